/* SPDX-License-Identifier: GPL-2.0 */
/* All differences between kernel versions, and nothing else, for both modules. */
#ifndef IW_COMPAT_H
#define IW_COMPAT_H

#include <linux/version.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hrtimer.h>

/* Not offered to modules: they lie in the kernel's source, below block/. */
#include "elevator.h"
#include "blk.h"
#include "blk-mq.h"
#include "blk-mq-sched.h"

/* The versions that the tests run on. Scripts read this line, too. */
#define IW_LINE(major, minor) (LINUX_VERSION_CODE >> 8 == ((major) << 8 | (minor)))
#if !(IW_LINE(6, 1) || IW_LINE(6, 12) || IW_LINE(7, 3))
#error "idlewise does not know this version of Linux. Cure: boot a kernel that it knows (docs/kernel.md lists them), or get the newest idlewise. To port it, go through kernel/shim/compat.h: each function says what it stands for."
#endif
#ifndef CONFIG_64BIT
#error "A request's private word holds two process numbers: 64-bit kernels only."
#endif

#define IW_SINCE(major, minor, patch) (LINUX_VERSION_CODE >= KERNEL_VERSION(major, minor, patch))

/* --- The elevator's operations --------------------------------------------------------------------- */

/* What insert_requests is told beside the requests. */
#if IW_SINCE(6, 12, 0)
typedef blk_insert_t iw_insertion;
#else
typedef bool iw_insertion;
#endif

/* What init_sched gets beside the queue. The block layer has made the elevator_queue, or init_sched does. */
#if IW_SINCE(7, 3, 0)
typedef struct elevator_queue iw_beginning;

static inline struct elevator_type *iw_beginning_type(iw_beginning *beginning)
{
	return beginning->type;
}

static inline struct elevator_queue *iw_begin(struct request_queue *q, iw_beginning *beginning)
{
	return beginning;
}

static inline void iw_begin_failed(struct elevator_queue *eq)
{
}
#else
typedef struct elevator_type iw_beginning;

static inline struct elevator_type *iw_beginning_type(iw_beginning *beginning)
{
	return beginning;
}

static inline struct elevator_queue *iw_begin(struct request_queue *q, iw_beginning *beginning)
{
	return elevator_alloc(q, beginning);
}

static inline void iw_begin_failed(struct elevator_queue *eq)
{
	kobject_put(&eq->kobj);
}
#endif

/* Whose scheduler tags depth_updated is told of: a hardware queue's, or all of a queue's. */
#if IW_SINCE(7, 3, 0)
typedef struct request_queue iw_tags;

static inline iw_tags *iw_tags_of(struct blk_mq_hw_ctx *hctx)
{
	return hctx->queue;
}

static inline struct request_queue *iw_tags_queue(iw_tags *tags)
{
	return tags;
}
#else
typedef struct blk_mq_hw_ctx iw_tags;

static inline iw_tags *iw_tags_of(struct blk_mq_hw_ctx *hctx)
{
	return hctx;
}

static inline struct request_queue *iw_tags_queue(iw_tags *tags)
{
	return tags->queue;
}
#endif

/* From now on any limit of tags may come. Returns of how many tags such a limit is a part: a search for a tag goes
 * word by word, and a limit holds in each word, or, since 6.12.43, in the whole map.
 */
static inline u32 iw_tags_limited(iw_tags *tags)
{
#if IW_SINCE(7, 3, 0)
	blk_mq_set_min_shallow_depth(tags, 1);
	return U32_MAX;
#else
	struct sbitmap_queue *map = &tags->sched_tags->bitmap_tags;

	sbitmap_queue_min_shallow_depth(map, 1);
	return IW_SINCE(6, 12, 43) ? U32_MAX : 1U << map->sb.shift;
#endif
}

/* Asynchronous requests may have three in four tags, so that they cannot keep synchronous ones out. Newer kernels have a
 * file for that, async_depth.
 */
static inline void iw_async_begin(struct request_queue *q)
{
#if IW_SINCE(7, 3, 0)
	q->async_depth = max_t(u32, q->nr_requests * 3 / 4, 1);
#endif
}

static inline u32 iw_async_most(struct request_queue *q)
{
#if IW_SINCE(7, 3, 0)
	return q->async_depth;
#else
	return max_t(u32, q->nr_requests * 3 / 4, 1);
#endif
}

/* --- Requests and queues ---------------------------------------------------------------------------- */

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
#if IW_SINCE(6, 12, 0)
	return rq->rq_flags & RQF_USE_SCHED;
#else
	return rq->rq_flags & RQF_ELVPRIV;
#endif
}

/* A request that was dispatched cannot grow any more. */
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

static inline bool iw_rotational(struct request_queue *q)
{
#if IW_SINCE(7, 3, 0)
	return blk_queue_rot(q);
#else
	return !blk_queue_nonrot(q);
#endif
}

/* --- Timers ------------------------------------------------------------------------------------------- */

/* A timer that is set to a time of ktime_get_ns(). */
static inline void iw_timer_init(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
#if IW_SINCE(7, 3, 0)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = function;
#endif
}

/* --- The driver of disks that are models --------------------------------------------------------------- */

#if IW_SINCE(7, 3, 0)
#define IW_TAG_SET_FLAGS 0
#else
#define IW_TAG_SET_FLAGS BLK_MQ_F_SHOULD_MERGE
#endif

/* What a new disk says of itself. */
struct iw_limits {
	u32 sectors;		/* of a command */
	u32 discard_sectors;
	bool rotational;
	bool write_cache;	/* which can be passed by */
};

static inline struct gendisk *iw_disk_new(struct blk_mq_tag_set *set, const struct iw_limits *wanted, void *queuedata)
{
#if IW_SINCE(6, 12, 0)
	struct queue_limits limits = {
		.logical_block_size = SECTOR_SIZE,
		.physical_block_size = SECTOR_SIZE,
		.max_hw_sectors = wanted->sectors,
		.max_hw_discard_sectors = wanted->discard_sectors,
		.discard_granularity = PAGE_SIZE,
		.features = (wanted->rotational ? BLK_FEAT_ROTATIONAL : 0) |
			    (wanted->write_cache ? BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA : 0),
	};

	return blk_mq_alloc_disk(set, &limits, queuedata);
#else
	struct gendisk *disk = blk_mq_alloc_disk(set, queuedata);
	struct request_queue *q;

	if (IS_ERR(disk))
		return disk;
	q = disk->queue;
	blk_queue_logical_block_size(q, SECTOR_SIZE);
	blk_queue_physical_block_size(q, SECTOR_SIZE);
	blk_queue_max_hw_sectors(q, wanted->sectors);
	blk_queue_max_discard_sectors(q, wanted->discard_sectors);
	q->limits.discard_granularity = PAGE_SIZE;
	blk_queue_write_cache(q, wanted->write_cache, wanted->write_cache);
	if (wanted->rotational)
		blk_queue_flag_clear(QUEUE_FLAG_NONROT, q);
	else
		blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	return disk;
#endif
}

#endif
