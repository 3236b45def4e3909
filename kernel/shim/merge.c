// SPDX-License-Identifier: GPL-2.0
/* Merging: the block layer joins bios and requests, and finds neighbours through these functions.
 *
 * A waiting request is found by its end in the block layer's own hash table, and by its start in
 * ours. The scheduler may refuse; what was done, the core is told. All of this happens under the
 * queue's lock, which iw_bio_merge() and the insertion take.
 */
#include <linux/ioprio.h>

#include "queue.h"
#include "operation.h"

static void iw_describe_rest(struct iw_request *raw, blk_opf_t opf, u16 ioprio, u64 who)
{
	u8 class = IOPRIO_PRIO_CLASS(ioprio);

	raw->issuer = (u32)who;
	raw->group = who >> 32;
	raw->operation = iw_operation_of(opf & REQ_OP_MASK);
	raw->sync = op_is_sync(opf);
	raw->metadata = opf & REQ_META;
	/* The block layer sends these past the elevator itself. */
	raw->past = false;
	raw->durable = (struct iw_durable){};
	/* Without a priority of its own a request has what a process of nice 0 has. */
	raw->priority.level = class == IOPRIO_CLASS_NONE ? IOPRIO_BE_NORM : IOPRIO_PRIO_DATA(ioprio) & 7;
	raw->priority.class_ = class == IOPRIO_CLASS_RT ? IW_CLASS_REAL_TIME :
			       class == IOPRIO_CLASS_IDLE ? IW_CLASS_IDLE : IW_CLASS_BEST_EFFORT;
}

/* The function that ends a bio which was split off another one. Modules cannot name the function, but can see which one
 * a chained bio has.
 */
static bio_end_io_t *iw_part_end;

void iw_parts_start(void)
{
	struct bio part, rest;

	bio_init(&part, NULL, NULL, 0, REQ_OP_READ);
	bio_init(&rest, NULL, NULL, 0, REQ_OP_READ);
	bio_chain(&part, &rest);
	iw_part_end = part.bi_end_io;
}

/* The block layer splits a bio that is larger than the disk takes: a part is cut off the front, must not be merged,
 * is chained to the rest, and the rest is submitted at once. Other users of chained bios let them be merged. The rest
 * lives until all its parts are done.
 */
static bool iw_more_follows(struct request *rq)
{
	struct bio *part = rq->biotail;

	return part && part->bi_opf & REQ_NOMERGE && part->bi_end_io == iw_part_end &&
	       ((struct bio *)part->bi_private)->bi_bdev == part->bi_bdev;
}

void iw_describe(struct request *rq, struct iw_request *raw)
{
	raw->start = blk_rq_pos(rq);
	raw->length = blk_rq_sectors(rq);
	iw_describe_rest(raw, rq->cmd_flags, req_get_ioprio(rq), (u64)rq->elv.priv[0]);
	raw->more_follows = iw_more_follows(rq);
}

/* --- Finding ------------------------------------------------------------------------------------ */

static void iw_index_start(struct iw_queue *iw, struct request *rq)
{
	hash_add(iw->starts, &iw->slots[iw_id(rq)].by_start, blk_rq_pos(rq));
}

/* Others may be merged with a waiting request. A request is indexed only when the next merge is tried: most requests of
 * a fast device are dispatched sooner.
 */
static void iw_index_all(struct iw_queue *iw)
{
	struct request *rq = iw->unindexed;

	iw->unindexed = NULL;
	if (!rq || !rq_mergeable(rq))
		return;
	elv_rqhash_add(iw->q, rq);
	iw_index_start(iw, rq);
	if (!iw->q->last_merge)
		iw->q->last_merge = rq;
}

void iw_unindex(struct iw_queue *iw, struct request *rq)
{
	if (iw->unindexed == rq) {
		iw->unindexed = NULL;
		return;
	}
	elv_rqhash_del(iw->q, rq);
	hash_del(&iw->slots[iw_id(rq)].by_start);
	if (iw->q->last_merge == rq)
		iw->q->last_merge = NULL;
}

/* A waiting request goes away without having been dispatched. */
void iw_forget(struct iw_queue *iw, struct request *rq)
{
	iw_unindex(iw, rq);
	WARN_ON_ONCE(iw_core(iw, iw_cancel, ktime_get_ns(), iw_id(rq)));
	iw_leave(iw, rq);
	iw->waiting--;
	iw->inserted--;
}

static struct request *iw_starting_at(struct iw_queue *iw, sector_t sector)
{
	struct iw_slot *slot;

	hash_for_each_possible(iw->starts, slot, by_start, sector)
		if (blk_rq_pos(slot->rq) == sector)
			return slot->rq;
	return NULL;
}

static struct request *iw_ending_at(struct iw_queue *iw, sector_t sector)
{
	struct request *rq;

	hash_for_each_possible(iw->q->elevator->hash, rq, hash, sector)
		if (rq_mergeable(rq) && blk_rq_pos(rq) + blk_rq_sectors(rq) == sector)
			return rq;
	return NULL;
}

static noinline bool iw_scheduler_allows(struct iw_queue *iw, struct request *other, struct request *rq)
{
	struct iw_request raw;

	iw_describe(rq, &raw);
	return iw_core(iw, iw_may_merge, iw_id(other), &raw);
}

/* Whether the scheduler lets rq become one with other, which waits. Mostly there is no other. Of discards the block layer
 * does not tell what it merged.
 */
static bool iw_may_join(struct iw_queue *iw, struct request *other, struct request *rq)
{
	return other && other != rq && req_op(rq) != REQ_OP_DISCARD && iw_scheduler_allows(iw, other, rq);
}

struct request *iw_former_request(struct request_queue *q, struct request *rq)
{
	struct request *former = iw_ending_at(iw_of(q), blk_rq_pos(rq));

	return iw_may_join(iw_of(q), former, rq) ? former : NULL;
}

struct request *iw_next_request(struct request_queue *q, struct request *rq)
{
	struct request *next = iw_starting_at(iw_of(q), blk_rq_pos(rq) + blk_rq_sectors(rq));

	return iw_may_join(iw_of(q), next, rq) ? next : NULL;
}

/* --- Bios ----------------------------------------------------------------------------------------- */

bool iw_allow_merge(struct request_queue *q, struct request *rq, struct bio *bio)
{
	struct iw_request raw = {
		.start = bio->bi_iter.bi_sector,
		.length = bio_sectors(bio),
	};

	if (!iw_is_ours(rq) || iw_state(rq) != IW_WAITING)
		return false;
	/* Asked before it is known whether they touch. */
	if (bio_op(bio) != REQ_OP_DISCARD &&
	    blk_rq_pos(rq) + blk_rq_sectors(rq) != raw.start && raw.start + raw.length != blk_rq_pos(rq))
		return false;
	iw_describe_rest(&raw, bio->bi_opf, bio->bi_ioprio, iw_who(iw_of(q)));
	return iw_core(iw_of(q), iw_may_merge, iw_id(rq), &raw);
}

int iw_request_merge(struct request_queue *q, struct request **req, struct bio *bio)
{
	struct iw_queue *iw = iw_of(q);
	struct request *rq;

	if (!iw->front_merges || bio_op(bio) == REQ_OP_DISCARD)
		return ELEVATOR_NO_MERGE;
	rq = iw_starting_at(iw, bio_end_sector(bio));
	if (!rq || !elv_bio_merge_ok(rq, bio))
		return ELEVATOR_NO_MERGE;
	*req = rq;
	return ELEVATOR_FRONT_MERGE;
}

static noinline bool iw_bio_merge_waiting(struct iw_queue *iw, struct bio *bio, unsigned int nr_segs)
{
	struct request *free = NULL;
	unsigned long flags;
	bool merged;

	spin_lock_irqsave(&iw->lock, flags);
	iw_index_all(iw);
	merged = blk_mq_sched_try_merge(iw->q, bio, nr_segs, &free);
	iw->merged += merged;
	spin_unlock_irqrestore(&iw->lock, flags);
	if (free)
		blk_mq_free_request(free);
	return merged;
}

bool iw_bio_merge(struct request_queue *q, struct bio *bio, unsigned int nr_segs)
{
	struct iw_queue *iw = iw_of(q);

	return READ_ONCE(iw->waiting) && !READ_ONCE(iw->broken) && iw_bio_merge_waiting(iw, bio, nr_segs);
}

/* rq has taken in a bio at its front or back. */
void iw_request_merged(struct request_queue *q, struct request *rq, enum elv_merge type)
{
	struct iw_queue *iw = iw_of(q);

	if (type == ELEVATOR_FRONT_MERGE) {
		hash_del(&iw->slots[iw_id(rq)].by_start);
		iw_index_start(iw, rq);
	}
	WARN_ON_ONCE(iw_core(iw, iw_grown, ktime_get_ns(), iw_id(rq), blk_rq_pos(rq), blk_rq_sectors(rq)));
}

/* --- Requests -------------------------------------------------------------------------------------- */

/* A request that is about to be inserted while others wait: does it go into one of them, and that into the one before?
 * The scheduler may refuse at each step. The block layer tries `last_merge` first, and then no other.
 */
bool iw_insert_merge(struct iw_queue *iw, struct request *rq, struct list_head *free)
{
	struct request *former;
	bool merged = false;

	if (unlikely(iw->broken))
		return false;
	iw_index_all(iw);
	if (!rq_mergeable(rq) || blk_queue_nomerges(iw->q))
		return false;
	for (;;) {
		former = iw_ending_at(iw, blk_rq_pos(rq));
		if ((blk_queue_noxmerges(iw->q) && former != iw->q->last_merge) || !iw_may_join(iw, former, rq))
			return merged;
		iw->q->last_merge = former;
		if (!blk_mq_sched_try_insert_merge(iw->q, rq, free))
			return merged;
		iw->merged++;
		merged = true;
		rq = former;
	}
}

/* next, which follows rq, is part of rq from now on. Either may have taken in a bio just before;
 * next may be about to be inserted, and then the core does not know it.
 */
void iw_requests_merged(struct request_queue *q, struct request *rq, struct request *next)
{
	struct iw_queue *iw = iw_of(q);
	u64 now = ktime_get_ns();
	u32 survivor = iw_id(rq), taken = iw_id(next);
	int error;

	if (iw_state(next) != IW_WAITING) {
		WARN_ON_ONCE(iw_core(iw, iw_grown, now, survivor, blk_rq_pos(rq), blk_rq_sectors(rq)));
		return;
	}
	iw_unindex(iw, next);
	error = iw_core(iw, iw_grown, now, taken, blk_rq_pos(next), blk_rq_sectors(next));
	error = error ?: iw_core(iw, iw_grown, now, survivor, blk_rq_pos(rq),
				 blk_rq_sectors(rq) - blk_rq_sectors(next));
	WARN_ON_ONCE(error ?: iw_core(iw, iw_absorbed, now, survivor, taken));
	iw_leave(iw, next);
	iw->waiting--;
	iw->absorbed++;
}
