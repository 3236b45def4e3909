// SPDX-License-Identifier: GPL-2.0
/* The core has panicked: one disk continues without it.
 *
 * Whatever function of the core was called has returned 0 by then (asm/guard.h), under the same locks. The queue is broken
 * from then on: the core is not called for it again, and requests go to the device in order of arrival.
 * Another elevator makes the disk whole. What the core had allocated for the queue is lost.
 */
#include <linux/list_sort.h>
#include <linux/module.h>

#include "queue.h"

/* Called by the core, in whatever context C called it. `first` is the first argument of the function that C called: a
 * queue's host, if the function is one for a queue.
 */
void iw_panicked(const char *text, size_t length, const void *first)
{
	struct iw_queue *iw;

	pr_emerg("idlewise: the scheduler's code panicked: %.*s\n", (int)length, text);
	dump_stack();
	rcu_read_lock();
	iw = iw_queue_of(first);
	if (iw) {
		const char *disk = iw->q->disk ? iw->q->disk->disk_name : "DISK";

		WRITE_ONCE(iw->broken, true);
		pr_emerg("idlewise: %s goes on without a scheduler, in order of arrival. Choose another: echo mq-deadline >/sys/block/%s/queue/scheduler. This is a mistake in idlewise: please report the lines above.\n",
			 disk, disk);
		iw_wake(iw);
	}
	rcu_read_unlock();
}

static int iw_later(void *unused, const struct list_head *a, const struct list_head *b)
{
	return iw_arrival(list_entry(a, struct request, queuelist)) > iw_arrival(list_entry(b, struct request, queuelist));
}

/* What the core of a broken queue held, and what has come since, waits in order of arrival from now on. With the lock held. */
void iw_fall_back(struct iw_queue *iw)
{
	u32 id;

	iw->fallen = true;
	for (id = 0; id < iw->device.ids; id++) {
		struct request *rq = iw->slots[id].rq;

		if (!rq || iw_state(rq) == IW_IN_FLIGHT)
			continue;
		if (iw_state(rq) == IW_WAITING) {
			iw_unindex(iw, rq);
			iw->inserted--;
		} else {
			iw->completed++;
		}
		iw_leave(iw, rq);
		list_add_tail(&rq->queuelist, &iw->direct);
	}
	list_sort(NULL, &iw->direct, iw_later);
}
