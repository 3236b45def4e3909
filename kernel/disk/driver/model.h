/* SPDX-License-Identifier: GPL-2.0 */
/* What the Rust half offers: kernel/disk/src/device.rs says what each function does. */
#ifndef IWD_MODEL_H
#define IWD_MODEL_H

#include <linux/types.h>

struct iwd_model;

/* RawTraits */
struct iwd_traits {
	u64 sectors;
	u32 depth;
	u8 rotational;
	u8 write_cache;
	char name[30];
};

/* RawCommand */
struct iwd_command {
	u64 start;
	u32 length;
	u32 tag;
	u8 operation;
	u8 fua;
};

enum { IWD_READ, IWD_WRITE, IWD_DISCARD, IWD_FLUSH };

/* RawCompletion; times in nanoseconds */
struct iwd_completion {
	u64 seek;
	u64 rotation;
	u64 transfer;
	u64 overhead;
	u32 tag;
	u8 cached;
};

#define IWD_NEVER U64_MAX

/* These allocate or free, and may sleep. */
struct iwd_model *iwd_new(const char *wanted, size_t length, struct iwd_traits *traits, int *error,
			  char *wrong, size_t size);
void iwd_free(struct iwd_model *model);

/* These never sleep; the caller holds the disk's lock. */
int iwd_submit(struct iwd_model *model, u64 now, const struct iwd_command *command);
u64 iwd_next(const struct iwd_model *model);
bool iwd_advance(struct iwd_model *model, u64 now, struct iwd_completion *completion);

#endif
