/* SPDX-License-Identifier: GPL-2.0 */
/* All differences between kernel versions, and nothing else. Supported: 6.1. */
#ifndef IW_COMPAT_H
#define IW_COMPAT_H

#include <linux/version.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>

/* Not offered to modules: they lie in the kernel's source, below block/. */
#include "elevator.h"
#include "blk.h"
#include "blk-mq.h"
#include "blk-mq-sched.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0) || LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#error "Supported is Linux 6.1. For another, go through this header: each function says what it stands for."
#endif
#ifndef CONFIG_64BIT
#error "A request's private word holds two process numbers: 64-bit kernels only."
#endif

/* The ids of a queue's requests: MAX_SCHED_RQ for each set of scheduler tags. nr_requests
 * cannot be set higher, so a change of nr_requests needs no other tables.
 */
static inline u32 iw_tag_sets(struct request_queue *q)
{
	return blk_mq_is_shared_tags(q->tag_set->flags) ? 1 : q->nr_hw_queues;
}

static inline u32 iw_new_id(struct request *rq)
{
	u32 set = blk_mq_is_shared_tags(rq->q->tag_set->flags) ? 0 : rq->mq_hctx->queue_num;

	return set * MAX_SCHED_RQ + rq->internal_tag;
}

/* The time of the submission, by the clock of ktime_get_ns(). The block layer notes the time for all requests that an
 * elevator sees. Time that a request has spent in a plug since is not thinking time of the process.
 */
static inline u64 iw_arrival(struct request *rq)
{
	return rq->start_time_ns;
}

/* Whether the two words rq->elv.priv are the elevator's. */
static inline bool iw_is_ours(struct request *rq)
{
	return rq->rq_flags & RQF_ELVPRIV;
}

/* A request that was given out cannot grow any more. */
static inline void iw_mark_started(struct request *rq)
{
	rq->rq_flags |= RQF_STARTED;
}

/* All hardware queues are served from one scheduler. */
static inline void iw_mark_shared(struct request_queue *q)
{
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, q);
}

/* The depth that the device's driver asked for. */
static inline u32 iw_device_depth(struct request_queue *q)
{
	return q->queue_depth ?: q->tag_set->queue_depth;
}

/* Scheduler tags are searched word by word. A search can be told how much of each word it may take. Returns
 * the bits of a word; from now on any limit may come.
 */
static inline u32 iw_tag_word(struct blk_mq_hw_ctx *hctx)
{
	struct sbitmap_queue *tags = &hctx->sched_tags->bitmap_tags;

	sbitmap_queue_min_shallow_depth(tags, 1);
	return 1U << tags->sb.shift;
}

#endif
