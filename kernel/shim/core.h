/* SPDX-License-Identifier: GPL-2.0 */
/* What the Rust half offers and wants: kernel/src says what each function does. */
#ifndef IW_CORE_H
#define IW_CORE_H

#include <linux/build_bug.h>
#include <linux/types.h>

struct iw_host;		/* a queue and its scheduler */
struct iw_scheduler;	/* a scheduler in no queue */
struct iw_auto;		/* a selector */

/* kernel/src/host.rs: RawDevice */
struct iw_device {
	u64 sectors;
	u32 ids;
	u32 depth;
	u32 hardware_queues;
	u32 rotational;
};

/* crates/core/src/request.rs: Request. Its layout is checked in kernel/src/host.rs. */
struct iw_request {
	u64 arrival;		/* written by the core */
	u64 start;		/* 512-byte sectors, as the length */
	u32 length;
	u32 issuer;		/* thread group id; 0 if unknown */
	u32 group;		/* that of its parent */
	u8 operation;		/* IW_READ to IW_FLUSH and no other value */
	u8 class;		/* IW_REAL_TIME to IW_IDLE_CLASS and no other value */
	u8 level;		/* 0 to 7 */
	bool sync;
	bool metadata;
	bool more_follows;
};
static_assert(sizeof(struct iw_request) == 40);

enum { IW_READ, IW_WRITE, IW_DISCARD, IW_FLUSH };
enum { IW_REAL_TIME, IW_BEST_EFFORT, IW_IDLE_CLASS };

/* What iw_dispatch() answers instead of an id; or, made negative, the time at which to ask again. */
#define IW_IDLE (-1)

/* Which schedulers there are. Texts have no zero byte; their length is returned. */
u32 iw_schedulers(void);
int iw_scheduler_find(const char *name, size_t length);
size_t iw_scheduler_name(u32 scheduler, char *room, size_t size);
size_t iw_elevator_name(u32 scheduler, char *room, size_t size);
u32 iw_tunables(u32 scheduler);
size_t iw_tunable_name(u32 scheduler, u32 tunable, char *room, size_t size);
size_t iw_tunable_format(u32 scheduler, u32 tunable, u64 value, char *room, size_t size);
int iw_tunable_parse(u32 scheduler, u32 tunable, const char *text, size_t length,
		     u64 *value, char *wrong, size_t size);

/* These allocate or free, and may sleep. */
struct iw_scheduler *iw_scheduler_new(u32 scheduler, const struct iw_device *device, int *error);
void iw_scheduler_free(struct iw_scheduler *scheduler);
struct iw_host *iw_queue_new(struct iw_scheduler *scheduler, const struct iw_device *device);
void iw_queue_free(struct iw_host *host);
struct iw_auto *iw_auto_new(u64 now, u32 ids, const char *settings, size_t length, int *error,
			    char *wrong, size_t size);
void iw_auto_free(struct iw_auto *selector);

/* These never sleep; the caller holds the queue's lock. */
void iw_queue_exchange(struct iw_host *host, u64 now, struct iw_scheduler *successor);
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
void iw_queue_break(struct iw_host *host);
struct iw_auto *iw_queue_watch(struct iw_host *host, struct iw_auto *selector);
u32 iw_auto_tick(struct iw_host *host, u64 now, u64 *next);
size_t iw_auto_show(struct iw_host *host, char *room, size_t size);

/* What it wants: memory.c. */
void *iw_memory_get(size_t size, size_t align);
void iw_memory_put(void *memory);
void iw_panic(const char *text, size_t length);

#endif
