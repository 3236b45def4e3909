/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of the Rust half; kernel/disk/src describes each. Functions
 * that may sleep or free something are called without a lock, all others with the disk's lock.
 * Made by crates/cli/tests/headers.rs.
 */
#ifndef IWD_MODEL_H
#define IWD_MODEL_H

#include <linux/types.h>

struct iwd_model;

#define IWD_NEVER U64_MAX

enum iw_operation {
	IW_OPERATION_READ,
	IW_OPERATION_WRITE,
	IW_OPERATION_DISCARD,
	IW_OPERATION_FLUSH,
};
typedef u8 iw_operation;

struct iwd_traits {
	u64 sectors;
	u32 depth;
	bool rotational;
	bool write_cache;
	char name[30];
};

struct iwd_command {
	u64 start;
	u32 length;
	u32 tag;
	iw_operation operation;
	bool fua;
};

struct iwd_completion {
	u64 seek;
	u64 rotation;
	u64 transfer;
	u64 overhead;
	u32 tag;
	bool cached;
};

struct iwd_model *iwd_new(const char *wanted, size_t length, struct iwd_traits *traits, int *failure, char *room, size_t size);
void iwd_free(struct iwd_model *disk);
int iwd_submit(struct iwd_model *disk, u64 now, const struct iwd_command *command);
u64 iwd_next(const struct iwd_model *disk);
bool iwd_advance(struct iwd_model *disk, u64 now, struct iwd_completion *completion);

#endif /* IWD_MODEL_H */
