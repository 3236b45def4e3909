/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of the Rust half, and those that the Rust half calls. kernel/src describes each. Functions that
 * may sleep or free something are called without a lock, all others with the queue's lock.
 * Made by crates/cli/tests/headers.rs.
 */
#ifndef IW_CORE_H
#define IW_CORE_H

#include <linux/types.h>

struct iw_scheduler;
struct iw_auto;
struct iw_curve;
struct iw_table;
struct iw_host;

#define IW_TUNABLES 48

#define IW_MESSAGE 160

#define IW_IDLE -1

#define IW_NOBODY U32_MAX

#define IW_STAY (U32_MAX - 1)

enum iw_operation {
	IW_OPERATION_READ,
	IW_OPERATION_WRITE,
	IW_OPERATION_DISCARD,
	IW_OPERATION_FLUSH,
};
typedef u8 iw_operation;

enum iw_class {
	IW_CLASS_REAL_TIME,
	IW_CLASS_BEST_EFFORT,
	IW_CLASS_IDLE,
};
typedef u8 iw_class;

struct iw_device {
	u64 sectors;
	u32 ids;
	u32 depth;
	u32 hardware_queues;
	bool rotational;
};

struct iw_priority {
	iw_class class_;
	u8 level;
};

struct iw_durable {
	bool before;
	bool itself;
};

struct iw_request {
	u64 arrival;
	u64 start;
	u32 length;
	u32 issuer;
	u32 group;
	iw_operation operation;
	struct iw_priority priority;
	bool sync;
	bool metadata;
	bool more_follows;
	bool past;
	struct iw_durable durable;
};

struct iw_order {
	u32 selector;
	u32 ids;
	bool rotational;
	const char *words;
	size_t length;
	const struct iw_table *matrix;
	const struct iw_table *ranking;
};

u32 iw_schedulers(void);
int iw_scheduler_find(const char *name, size_t length);
size_t iw_scheduler_name(u32 scheduler, char *room, size_t size);
size_t iw_elevator_name(u32 scheduler, char *room, size_t size);
u32 iw_tunables(u32 scheduler);
size_t iw_tunable_name(u32 scheduler, u32 index, char *room, size_t size);
size_t iw_tunable_format(u32 scheduler, u32 index, u64 value, char *room, size_t size);
int iw_tunable_parse(u32 scheduler, u32 index, const char *from, size_t length, u64 *value, char (*wrong)[IW_MESSAGE]);
struct iw_scheduler *iw_scheduler_new(u32 scheduler, const struct iw_device *device, int *failure);
void iw_scheduler_free(struct iw_scheduler *scheduler);
struct iw_host *iw_queue_new(struct iw_scheduler *scheduler, const struct iw_device *device);
void iw_queue_free(struct iw_host *host);
void iw_queue_begin(struct iw_host *host, u64 now, struct iw_scheduler *successor);
bool iw_queue_carry(struct iw_host *host, u64 now);
int iw_insert(struct iw_host *host, u64 now, u32 id, const struct iw_request *request);
s64 iw_dispatch(struct iw_host *host, u64 now);
int iw_complete(struct iw_host *host, u64 now, u32 id);
int iw_requeue(struct iw_host *host, u64 now, u32 id);
int iw_cancel(struct iw_host *host, u64 now, u32 id);
bool iw_may_merge(const struct iw_host *host, u32 id, const struct iw_request *request);
u32 iw_quota(const struct iw_host *host, u32 size, bool asynchronous);
bool iw_front_merges(const struct iw_host *host);
int iw_grown(struct iw_host *host, u64 now, u32 id, u64 start, u32 length);
int iw_absorbed(struct iw_host *host, u64 now, u32 survivor, u32 taken);
int iw_issuer_gone(struct iw_host *host, u64 now, u32 issuer);
int iw_set_weight(struct iw_host *host, u64 now, u32 issuer, u32 weight);
u64 iw_queue_get(const struct iw_host *host, u32 tunable);
int iw_queue_set(struct iw_host *host, u32 tunable, u64 value);
void iw_queue_set_curve(struct iw_host *host, const struct iw_curve *curve);
struct iw_auto *iw_queue_set_selector(struct iw_host *host, struct iw_auto *selector);
u32 iw_auto_tick(struct iw_host *host, u64 now, u64 *next);
void iw_auto_place(struct iw_host *host, struct iw_scheduler *successor);
size_t iw_auto_show(const struct iw_host *host, char *room, size_t size);
void iw_queue_break(const struct iw_host *host);
int iw_selector_find(const char *name, size_t length);
size_t iw_selector_name(u32 selector, char *room, size_t size);
struct iw_auto *iw_auto_new(const struct iw_order *order, u64 now, int *failure, char (*wrong)[IW_MESSAGE]);
size_t iw_built_in_matrix(const char *words, size_t length, char *room, size_t size);
void iw_auto_free(struct iw_auto *selector);
struct iw_table *iw_table_new(bool matrix, const char *words, size_t length, int *failure, char (*wrong)[IW_MESSAGE]);
void iw_table_free(struct iw_table *table);
size_t iw_table_show(const struct iw_table *table, char *room, size_t size);
struct iw_curve *iw_curve_new(const char *words, size_t length, int *failure, char (*wrong)[IW_MESSAGE]);
void iw_curve_free(struct iw_curve *curve);
size_t iw_curve_show(const struct iw_curve *curve, char *room, size_t size);
void *iw_memory_get(size_t size, size_t align);
void iw_memory_put(void *memory);

#endif /* IW_CORE_H */
