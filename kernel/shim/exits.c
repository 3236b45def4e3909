// SPDX-License-Identifier: GPL-2.0
/* Notices that a thread or a process has exited, and tells the queues on which it issued something.
 *
 * By the tracepoint sched_process_exit, which modules may use although they may not name it. An exit takes the lock of
 * those queues only on which it issued; without a queue it costs a check of an empty list. What an issuer
 * submits after that point, when its files are closed, counts as nobody's (iw_who()).
 */
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/tracepoint.h>

#include "queue.h"

static DEFINE_MUTEX(iw_alive_lock);	/* changes of the list; readers are under RCU */
static LIST_HEAD(iw_alive);
static struct tracepoint *iw_exit_point;

/* --- Who issued on a queue and lives ---------------------------------------------------------------------- */

/* Process numbers go round, so eight in a row of IW_ROWS rows are seldom too few. Where they are, the row's last place
 * says so from then on, and every exit of a number of that row is told: the core ignores whom it does not know.
 */
#define IW_CROWDED U32_MAX

static u32 *iw_row(struct iw_queue *iw, u32 who)
{
	return iw->rows[who % IW_ROWS];
}

/* A process issues, and the last one that did was another. With the lock held. */
void iw_exits_expect(struct iw_queue *iw, u32 who)
{
	u32 *row = iw_row(iw, who), *free = NULL;
	unsigned int place;

	iw->last_issuer = who;
	for (place = 0; place < IW_ROW; place++) {
		if (row[place] == who || row[place] == IW_CROWDED)
			return;
		if (!row[place] && !free)
			free = row + place;
	}
	if (free) {
		WRITE_ONCE(*free, who);
		iw->issuers++;
	} else {
		WRITE_ONCE(row[IW_ROW - 1], IW_CROWDED);
		iw->issuers--;
	}
}

/* Whether it issued, as far as is known. */
static u32 *iw_find(struct iw_queue *iw, u32 who)
{
	u32 *row = iw_row(iw, who);
	unsigned int place;

	for (place = 0; place < IW_ROW; place++) {
		u32 there = READ_ONCE(row[place]);

		if (there == who || there == IW_CROWDED)
			return row + place;
	}
	return NULL;
}

/* --- Exits ------------------------------------------------------------------------------------------------- */

static void iw_gone(struct iw_queue *iw, u32 who)
{
	unsigned long flags;
	bool wake;
	u32 *place;

	/* Its last request is older than its exit, so it is there already, or never was. */
	if (!iw_find(iw, who))
		return;
	spin_lock_irqsave(&iw->lock, flags);
	place = iw_find(iw, who);
	if (place && *place == who) {
		WRITE_ONCE(*place, 0);
		iw->issuers--;
	}
	if (iw->last_issuer == who)
		iw->last_issuer = 0;
	WARN_ON_ONCE(iw_core(iw, iw_issuer_gone, ktime_get_ns(), who));
	iw->exits++;
	wake = iw->held;
	spin_unlock_irqrestore(&iw->lock, flags);
	/* The core may have waited for a request of this process. */
	if (wake)
		iw_wake(iw);
}

/* From now on the threads of a process are one issuer, or each thread is one. Those that issued until now are gone. */
void iw_exits_by_process(struct iw_queue *iw, bool by_process)
{
	u32 *who = &iw->rows[0][0];
	unsigned int place;

	spin_lock_irq(&iw->lock);
	if (iw->by_process != by_process) {
		for (place = 0; place < IW_ROWS * IW_ROW; place++) {
			if (who[place] && who[place] != IW_CROWDED)
				iw_core(iw, iw_issuer_gone, ktime_get_ns(), who[place]);
			WRITE_ONCE(who[place], 0);
		}
		iw->issuers = iw->last_issuer = 0;
		WRITE_ONCE(iw->by_process, by_process);
	}
	spin_unlock_irq(&iw->lock);
	iw_wake(iw);
}

/* Called for each thread; a process is gone with its last. */
static void iw_on_exit(void *unused, struct task_struct *task)
{
	struct iw_queue *iw;
	bool last;

	if (list_empty(&iw_alive))
		return;
	last = !atomic_read(&task->signal->live);
	rcu_read_lock();
	list_for_each_entry_rcu(iw, &iw_alive, alive) {
		if (!READ_ONCE(iw->by_process))
			iw_gone(iw, task->pid);
		else if (last)
			iw_gone(iw, task->tgid);
		if (last)
			iw_weights_exit(iw, task->tgid);
		if (task->pid != task->tgid)
			iw_weights_exit(iw, task->pid);
	}
	rcu_read_unlock();
}

/* The queue with that host, or NULL. Under RCU. */
struct iw_queue *iw_queue_of(const void *host)
{
	struct iw_queue *iw;

	list_for_each_entry_rcu(iw, &iw_alive, alive)
		if (iw->host == host)
			return iw;
	return NULL;
}

void iw_exits_watch(struct iw_queue *iw)
{
	mutex_lock(&iw_alive_lock);
	list_add_rcu(&iw->alive, &iw_alive);
	mutex_unlock(&iw_alive_lock);
}

/* From now on no exit is reported. */
void iw_exits_unwatch(struct iw_queue *iw)
{
	mutex_lock(&iw_alive_lock);
	list_del_rcu(&iw->alive);
	mutex_unlock(&iw_alive_lock);
	synchronize_rcu();
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
