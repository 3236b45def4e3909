// SPDX-License-Identifier: GPL-2.0
/* The elevator itself: requests go into the core and come out in its order.
 *
 * One lock for each block device, taken with interrupts off: completions and the timer come in
 * interrupts. The core is asked under that lock and never sleeps there. Flushes and pass-through
 * commands stay with the block layer, which does not hand them to elevators.
 */
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <trace/events/block.h>

#include "queue.h"

static enum hrtimer_restart iw_timer(struct hrtimer *timer)
{
	iw_wake(container_of(timer, struct iw_queue, timer));
	return HRTIMER_NORESTART;
}

/* --- A device gets the elevator, and loses it -------------------------------------------------- */

static void iw_free(struct iw_queue *iw)
{
	/* What has panicked is not touched again, and its memory is lost. */
	if (iw->host && iw_callable(iw, "iw_queue_free") == 1)
		iw_queue_free(iw->host);
	iw_memory_put(iw->slots);
	iw_memory_put(iw);
}

static struct iw_queue *iw_new(struct request_queue *q, u32 scheduler, int *error)
{
	struct iw_scheduler *first;
	struct iw_queue *iw;

	*error = -ENOMEM;
	iw = iw_memory_get(sizeof(*iw), __alignof__(*iw));
	if (!iw)
		return NULL;
	memset(iw, 0, sizeof(*iw));
	iw->q = q;
	iw->policy = scheduler;
	iw->device = (struct iw_device) {
		.sectors = q->disk ? get_capacity(q->disk) : 0,
		.ids = iw_tag_sets(q) * MAX_SCHED_RQ,
		.depth = iw_device_depth(q),
		.hardware_queues = q->nr_hw_queues,
		.rotational = iw_rotational(q),
	};
	iw->slots = iw_memory_get(iw->device.ids * sizeof(*iw->slots), __alignof__(*iw->slots));
	if (!iw->slots)
		goto free;
	memset(iw->slots, 0, iw->device.ids * sizeof(*iw->slots));
	first = iw_scheduler_new(scheduler, &iw->device, error);
	if (!first)
		goto free;
	*error = -ENOMEM;
	iw->host = iw_queue_new(first, &iw->device);
	if (!iw->host)
		goto free;
	spin_lock_init(&iw->lock);
	hash_init(iw->starts);
	INIT_LIST_HEAD(&iw->direct);
	INIT_LIST_HEAD(&iw->given);
	iw_timer_init(&iw->timer, iw_timer);
	iw_policy_begin(iw);
	iw_exits_watch(iw);
	iw->front_merges = iw_core(iw, iw_front_merges);
	return iw;
free:
	iw_free(iw);
	return NULL;
}

static int iw_init_sched(struct request_queue *q, iw_beginning *beginning)
{
	struct elevator_type *type = iw_beginning_type(beginning);
	struct iw_elevator *elevator = container_of(type, struct iw_elevator, type);
	/* The elevator that hosts all begins with the first. */
	u32 scheduler = elevator->scheduler < iw_schedulers() ? elevator->scheduler : 0;
	struct elevator_queue *eq = iw_begin(q, beginning);
	struct iw_queue *iw;
	int error;

	if (!eq)
		return -ENOMEM;
	iw = iw_new(q, scheduler, &error);
	if (!iw) {
		pr_warn("idlewise: %s cannot be had for this device: error %d\n", type->elevator_name, error);
		iw_begin_failed(eq);
		return error;
	}
	eq->elevator_data = iw;
	iw_mark_shared(q);
	iw_async_begin(q);
	q->elevator = eq;
	if (elevator->scheduler >= iw_schedulers())
		iw_policy_first(iw);
	return 0;
}

static void iw_exit_sched(struct elevator_queue *eq)
{
	struct iw_queue *iw = eq->elevator_data;

	iw_policy_end(iw);
	hrtimer_cancel(&iw->timer);
	iw_exits_unwatch(iw);
	iw_weights_free(iw);
	WARN(iw->waiting || iw->in_flight,
	     "idlewise: %u requests wait and %u are in flight on a queue that is drained\n",
	     iw->waiting, iw->in_flight);
	iw_free(iw);
}

static void iw_depth_updated(iw_tags *tags)
{
	WRITE_ONCE(iw_of(iw_tags_queue(tags))->tag_range, iw_tags_limited(tags));
}

static int iw_init_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	iw_depth_updated(iw_tags_of(hctx));
	return 0;
}

/* How many of the scheduler tags a kind of request may have: the scheduler's quota, for asynchronous requests no
 * more than the queue's.
 */
static u32 iw_tag_limit(struct iw_queue *iw, blk_opf_t opf, u32 tags)
{
	unsigned long flags;
	u32 limit;

	spin_lock_irqsave(&iw->lock, flags);
	limit = iw_core(iw, iw_quota, tags, !op_is_sync(opf)) ?: tags;
	spin_unlock_irqrestore(&iw->lock, flags);
	return op_is_sync(opf) ? limit : min(limit, iw_async_most(iw->q));
}

static void iw_limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	struct iw_queue *iw = iw_of(data->q);
	u32 tags = data->q->nr_requests, limit;

	if ((opf & REQ_OP_MASK) == REQ_OP_READ)
		return;
	limit = iw_tag_limit(iw, opf, tags);
	/* Where there are fewer tags than a limit is a part of, it is a part of these. */
	if (limit < tags)
		data->shallow_depth = max(limit * min(READ_ONCE(iw->tag_range), tags) / tags, 1U);
}

/* --- A request ----------------------------------------------------------------------------------- */

/* In the submitter, unlike a later insertion. */
static void iw_prepare_request(struct request *rq)
{
	rq->elv.priv[0] = (void *)iw_who(iw_of(rq->q));
	rq->elv.priv[1] = (void *)((unsigned long)iw_new_id(rq) << IW_STATE_BITS | IW_OUTSIDE);
}

/* A request that the core cannot hold goes to the device in order of arrival. */
static void iw_insert_direct(struct iw_queue *iw, struct request *rq)
{
	list_add_tail(&rq->queuelist, &iw->direct);
	iw->waiting++;
}

/* A request that was in flight leaves the core. */
static void iw_done(struct iw_queue *iw, struct request *rq, u64 now)
{
	WARN_ON_ONCE(iw_core(iw, iw_complete, now, iw_id(rq)));
	iw_leave(iw, rq);
	iw->in_flight--;
	iw->completed++;
}

/* What the device has given back goes before all others. */
static void iw_requeue_one(struct iw_queue *iw, struct request *rq)
{
	u64 now = ktime_get_ns();

	iw->requeued++;
	iw->waiting++;
	if (!WARN_ON_ONCE(iw_core(iw, iw_requeue, now, iw_id(rq))) && !iw->broken) {
		iw_set_state(rq, IW_RETURNED);
		iw->in_flight--;
	} else {
		iw_done(iw, rq, now);
		list_add(&rq->queuelist, &iw->direct);
	}
}

/* Schedulers that share by weight follow the weight that an administrator has given, or else the level of the I/O
 * priority: 200 for the highest, 100 for the usual, 25 for the lowest. The core is told when issuer and level differ from
 * the request before.
 */
static void iw_weigh(struct iw_queue *iw, u64 now, const struct iw_request *raw)
{
	u64 own = (u64)raw->priority.level << 32 | raw->issuer;

	if ((likely(!iw->weights) && raw->priority.level == IOPRIO_BE_NORM) || own == iw->weighed || !raw->issuer)
		return;
	iw->weighed = own;
	iw->weights = true;
	/* Beyond as many as the core keeps, the usual weight has to do. */
	iw_core(iw, iw_set_weight, now, raw->issuer, iw_weight_of(iw, raw->issuer) ?: (8 - raw->priority.level) * 25);
}

static void iw_insert_one(struct iw_queue *iw, struct request *rq, struct list_head *free)
{
	u64 now = iw_arrival(rq);
	struct iw_request raw;
	u32 id;

	if (!iw_is_ours(rq)) {
		iw_insert_direct(iw, rq);
		return;
	}
	id = iw_id(rq);
	if (iw_state(rq) == IW_IN_FLIGHT) {
		iw_requeue_one(iw, rq);
		return;
	}
	if (iw->waiting && iw_insert_merge(iw, rq, free))
		return;
	iw_describe(rq, &raw);
	iw_weigh(iw, now, &raw);
	if (WARN_ONCE(iw_core(iw, iw_insert, now, id, &raw), "idlewise: request %u is in use\n", id) || iw->broken) {
		iw_insert_direct(iw, rq);
		return;
	}
	if (raw.issuer && raw.issuer != iw->last_issuer)
		iw_exits_expect(iw, raw.issuer);
	iw_set_state(rq, IW_WAITING);
	iw->slots[id].rq = rq;
	iw->unindexed = rq;
	iw->waiting++;
	iw->inserted++;
	iw->split += raw.more_follows;
	trace_block_rq_insert(rq);
}

/* A request that comes by itself is followed by a run of the queue in a worker: in time for heads that move, but changing
 * to the worker and back costs more than all else that an elevator does. Where no heads move the submitter does that work
 * itself, as it does without an elevator. Requests from a plug are followed by a run in the submitter anyway.
 */
static void iw_start_device(struct iw_queue *iw, struct blk_mq_hw_ctx *hctx)
{
	if (!iw->device.rotational && !current->plug && in_task())
		blk_mq_run_hw_queue(hctx, false);
}

static void iw_insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list, iw_insertion how)
{
	struct iw_queue *iw = iw_of(hctx->queue);
	unsigned long flags;
	LIST_HEAD(free);

	spin_lock_irqsave(&iw->lock, flags);
	while (!list_empty(list)) {
		struct request *rq = list_first_entry(list, struct request, queuelist);

		list_del_init(&rq->queuelist);
		iw_insert_one(iw, rq, &free);
	}
	WRITE_ONCE(iw->held, false);
	spin_unlock_irqrestore(&iw->lock, flags);
	blk_mq_free_requests(&free);
	iw_start_device(iw, hctx);
}

static bool iw_has_work(struct blk_mq_hw_ctx *hctx)
{
	struct iw_queue *iw = iw_of(hctx->queue);

	return READ_ONCE(iw->waiting) && !READ_ONCE(iw->held);
}

/* The core dispatched the request of this id. */
static struct request *iw_take(struct iw_queue *iw, u32 id)
{
	struct request *rq = iw->slots[id].rq;

	if (iw_state(rq) == IW_WAITING) {
		iw_unindex(iw, rq);
		iw->dispatched++;
	}
	iw_mark_started(rq);
	iw_set_state(rq, IW_IN_FLIGHT);
	iw->waiting--;
	iw->in_flight++;
	return rq;
}

static struct request *iw_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct iw_queue *iw = iw_of(hctx->queue);
	struct request *rq = NULL;
	unsigned long flags;
	s64 answer;

	spin_lock_irqsave(&iw->lock, flags);
	/* Whoever switches may not get a processor for long. */
	if (unlikely(iw->carrying))
		iw_carry(iw);
	if (unlikely(iw->broken && !iw->fallen))
		iw_fall_back(iw);
	if (unlikely(!list_empty(&iw->direct))) {
		rq = list_first_entry(&iw->direct, struct request, queuelist);
		list_del_init(&rq->queuelist);
		iw->waiting--;
	} else if (iw->waiting) {
		answer = iw_core(iw, iw_dispatch, ktime_get_ns());
		if (unlikely(iw->broken)) {
			/* The queue is being run anew. */
		} else if (answer >= 0) {
			rq = iw_take(iw, answer);
		} else {
			/* While requests move over, the block layer asks again by itself. */
			WRITE_ONCE(iw->held, !iw->carrying);
			if (answer != IW_IDLE) {
				iw->waits++;
				hrtimer_start(&iw->timer, ns_to_ktime(-answer), HRTIMER_MODE_ABS);
			}
		}
	}
	spin_unlock_irqrestore(&iw->lock, flags);
	return rq;
}

static void iw_completed_request(struct request *rq, u64 now)
{
	struct iw_queue *iw = iw_of(rq->q);
	unsigned long flags;
	bool wake;

	if (!iw_is_ours(rq) || iw_state(rq) != IW_IN_FLIGHT)
		return;
	spin_lock_irqsave(&iw->lock, flags);
	iw_done(iw, rq, now);
	wake = iw->held;
	spin_unlock_irqrestore(&iw->lock, flags);
	/* The scheduler may have waited for this completion, and no other event would make the kernel ask again. */
	if (wake)
		iw_wake(iw);
}

/* Before a request that the core still has is free. */
static noinline void iw_finish_inside(struct request *rq)
{
	struct iw_queue *iw = iw_of(rq->q);
	unsigned long flags;

	if (iw_state(rq) == IW_IN_FLIGHT) {
		iw_completed_request(rq, ktime_get_ns());
	} else if (iw_state(rq) == IW_WAITING) {
		spin_lock_irqsave(&iw->lock, flags);
		iw_forget(iw, rq);
		spin_unlock_irqrestore(&iw->lock, flags);
	}
}

/* Most left the core when they were completed. */
static void iw_finish_request(struct request *rq)
{
	if (iw_state(rq) != IW_OUTSIDE)
		iw_finish_inside(rq);
}

const struct elevator_mq_ops iw_ops = {
	.init_sched = iw_init_sched,
	.exit_sched = iw_exit_sched,
	.init_hctx = iw_init_hctx,
	.depth_updated = iw_depth_updated,
	.limit_depth = iw_limit_depth,
	.allow_merge = iw_allow_merge,
	.bio_merge = iw_bio_merge,
	.request_merge = iw_request_merge,
	.request_merged = iw_request_merged,
	.requests_merged = iw_requests_merged,
	.former_request = iw_former_request,
	.next_request = iw_next_request,
	.prepare_request = iw_prepare_request,
	.insert_requests = iw_insert_requests,
	.has_work = iw_has_work,
	.dispatch_request = iw_dispatch_request,
	.completed_request = iw_completed_request,
	.finish_request = iw_finish_request,
};
