// SPDX-License-Identifier: GPL-2.0
/* Notices that a process has exited, and tells the queues on which it issued something.
 *
 * By the tracepoint sched_process_exit, which modules may use although they may not name it.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/tracepoint.h>

#include "queue.h"

static DEFINE_SPINLOCK(iw_alive_lock);
static LIST_HEAD(iw_alive);
static struct tracepoint *iw_exit_point;

static void iw_gone(struct iw_queue *iw, u32 who)
{
	unsigned int bit = who & ((1 << IW_SEEN_BITS) - 1);
	bool wake;

	if (!test_bit(bit, iw->seen))
		return;
	spin_lock(&iw->lock);
	__clear_bit(bit, iw->seen);
	WARN_ON_ONCE(iw_issuer_gone(iw->host, ktime_get_ns(), who));
	iw->exits++;
	wake = iw->held;
	spin_unlock(&iw->lock);
	/* The core may have waited for a request of this process. */
	if (wake)
		iw_wake(iw);
}

/* Called for each thread; a process is gone with its last. */
static void iw_on_exit(void *unused, struct task_struct *task)
{
	struct iw_queue *iw;
	unsigned long flags;

	if (atomic_read(&task->signal->live))
		return;
	spin_lock_irqsave(&iw_alive_lock, flags);
	list_for_each_entry(iw, &iw_alive, alive)
		iw_gone(iw, task->tgid);
	spin_unlock_irqrestore(&iw_alive_lock, flags);
}

void iw_exits_watch(struct iw_queue *iw)
{
	unsigned long flags;

	spin_lock_irqsave(&iw_alive_lock, flags);
	list_add(&iw->alive, &iw_alive);
	spin_unlock_irqrestore(&iw_alive_lock, flags);
}

void iw_exits_unwatch(struct iw_queue *iw)
{
	unsigned long flags;

	spin_lock_irqsave(&iw_alive_lock, flags);
	list_del(&iw->alive);
	spin_unlock_irqrestore(&iw_alive_lock, flags);
}

static void iw_find_exit_point(struct tracepoint *point, void *unused)
{
	if (!strcmp(point->name, "sched_process_exit"))
		iw_exit_point = point;
}

int iw_exits_start(void)
{
	for_each_kernel_tracepoint(iw_find_exit_point, NULL);
	if (!iw_exit_point) {
		pr_warn("idlewise: this kernel has no tracepoint sched_process_exit: exits go unnoticed\n");
		return 0;
	}
	return tracepoint_probe_register(iw_exit_point, iw_on_exit, NULL);
}

void iw_exits_stop(void)
{
	if (!iw_exit_point)
		return;
	tracepoint_probe_unregister(iw_exit_point, iw_on_exit, NULL);
	tracepoint_synchronize_unregister();
}
