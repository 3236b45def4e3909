// SPDX-License-Identifier: GPL-2.0
/* The elevator that hosts all: which scheduler is inside.
 *
 *   echo cas >iosched/policy                      that one
 *   echo auto >iosched/policy                     whichever a selector chooses, period by period
 *   echo auto goal=lowest period=5000 >…/policy   the selector with these settings
 *   cat iosched/auto                              what it last saw and decided
 *
 * Nothing drains: what waits moves over, what is in flight completes into the new one. Building that, before, and
 * freeing the old one, after, take time, and hold no lock of the queue. What waits moves over some requests at a time, with
 * the lock given back in between. The selector is asked by a worker.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/string.h>

#include "queue.h"

/* Some of what waits moves over. With the lock held. */
void iw_carry(struct iw_queue *iw)
{
	iw->carrying = iw_core(iw, iw_queue_carry, ktime_get_ns());
}

/* The scheduler is in use from now on. Not inlined, as the next one: a test measures how long they take. */
static noinline void iw_switch_begin(struct iw_queue *iw, struct iw_scheduler *scheduler, u32 number)
{
	spin_lock_irq(&iw->lock);
	if (iw_callable(iw, "iw_queue_begin") == 1)
		iw_queue_begin(iw->host, ktime_get_ns(), scheduler);
	iw_carry(iw);
	iw->front_merges = iw_core(iw, iw_front_merges);
	if (!iw->broken) {
		iw->policy = number;
		iw->switches++;
	}
	spin_unlock_irq(&iw->lock);
}

static noinline void iw_switch_step(struct iw_queue *iw)
{
	spin_lock_irq(&iw->lock);
	if (iw->carrying)
		iw_carry(iw);
	spin_unlock_irq(&iw->lock);
}

/* With the policy's lock held. */
static int iw_switch(struct iw_queue *iw, u32 number)
{
	struct iw_scheduler *scheduler;
	int error;

	scheduler = iw_scheduler_new(number, &iw->device, &error);
	if (!scheduler)
		return error;
	iw_switch_begin(iw, scheduler, number);
	iw_wake(iw);
	while (READ_ONCE(iw->carrying)) {
		cond_resched();
		iw_switch_step(iw);
		if (READ_ONCE(iw->held))
			iw_wake(iw);
	}
	/* Which of the two is here, nobody knows. */
	if (READ_ONCE(iw->broken))
		return -EIO;
	iw_scheduler_free(scheduler);
	return 0;
}

/* Another selector, or none, sees the requests. Returns the one before. With the policy's lock held. */
static struct iw_auto *iw_set_selector(struct iw_queue *iw, struct iw_auto *selector)
{
	spin_lock_irq(&iw->lock);
	if (iw_callable(iw, "iw_queue_set_selector") == 1)
		selector = iw_queue_set_selector(iw->host, selector);
	/* Which of the two is here, nobody knows. */
	if (iw->broken)
		selector = NULL;
	spin_unlock_irq(&iw->lock);
	return selector;
}

/* Does what the selector wants; what fails for want of memory is tried again after the next period. */
static int iw_carry_out(struct iw_queue *iw)
{
	u64 next = 0, now;
	u32 wanted;
	int error = 0;

	spin_lock_irq(&iw->lock);
	now = ktime_get_ns();
	wanted = iw_core(iw, iw_auto_tick, now, &next);
	if (iw->broken)
		wanted = IW_NOBODY;
	spin_unlock_irq(&iw->lock);
	if (wanted == IW_NOBODY)
		return 0;
	if (wanted != iw->policy)
		error = iw_switch(iw, wanted);
	mod_delayed_work(system_long_wq, &iw->asking, nsecs_to_jiffies(next > now ? next - now : 0) + 1);
	return error;
}

static void iw_ask(struct work_struct *work)
{
	struct iw_queue *iw = container_of(to_delayed_work(work), struct iw_queue, asking);
	/* Memory is not had by writing to this very disk, which may be frozen until this worker is done. */
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&iw->policy_lock);
	if (iw_carry_out(iw))
		pr_warn_ratelimited("idlewise: no memory for the scheduler that auto has chosen\n");
	mutex_unlock(&iw->policy_lock);
	memalloc_noio_restore(noio);
}

void iw_policy_begin(struct iw_queue *iw)
{
	mutex_init(&iw->policy_lock);
	INIT_DELAYED_WORK(&iw->asking, iw_ask);
}

void iw_policy_end(struct iw_queue *iw)
{
	cancel_delayed_work_sync(&iw->asking);
}

/* `auto`, and settings of the selector. With the policy's lock held. */
static int iw_choose_by_itself(struct iw_queue *iw, const char *settings, size_t length)
{
	struct iw_auto *selector, *former;
	char wrong[IW_MESSAGE] = "";
	int error = -EIO;

	selector = iw_auto_new(ktime_get_ns(), iw->device.ids, settings, length, &error, &wrong);
	if (!selector) {
		pr_notice_ratelimited("idlewise: auto: %s\n", wrong);
		return error;
	}
	former = iw_set_selector(iw, selector);
	error = iw_carry_out(iw);
	/* The selector that was there stays, if there was one. */
	iw_auto_free(error ? iw_set_selector(iw, former) : former);
	if (!error)
		iw->automatic = true;
	return error;
}

ssize_t iw_policy_show(struct elevator_queue *e, char *page)
{
	struct iw_queue *iw = e->elevator_data;
	char name[IW_NAME];
	ssize_t length = 0;
	u32 scheduler;

	for (scheduler = 0; scheduler < iw_schedulers(); scheduler++) {
		int own = iw_scheduler_name(scheduler, name, sizeof(name));

		length += sysfs_emit_at(page, length, scheduler == iw->policy ? "[%.*s] " : "%.*s ", own, name);
	}
	length += sysfs_emit_at(page, length, iw->automatic ? "[auto]\n" : "auto\n");
	return length;
}

ssize_t iw_policy_store(struct elevator_queue *e, const char *page, size_t count)
{
	struct iw_queue *iw = e->elevator_data;
	size_t length = strcspn(page, " \n"), rest = count - length;
	int number, error;

	mutex_lock(&iw->policy_lock);
	if (length == 4 && !memcmp(page, "auto", 4)) {
		error = iw_choose_by_itself(iw, page + length, rest);
	} else {
		number = iw_scheduler_find(page, length);
		if (number < 0)
			pr_notice_ratelimited("idlewise: there is no scheduler %.*s; policy lists those there are\n",
					      (int)length, page);
		error = number < 0 ? number : iw_switch(iw, number);
		if (!error) {
			iw_auto_free(iw_set_selector(iw, NULL));
			iw->automatic = false;
		}
	}
	mutex_unlock(&iw->policy_lock);
	return error ?: count;
}

ssize_t iw_auto_file(struct elevator_queue *e, char *page)
{
	struct iw_queue *iw = e->elevator_data;
	ssize_t length;

	spin_lock_irq(&iw->lock);
	length = iw_core(iw, iw_auto_show, page, PAGE_SIZE);
	spin_unlock_irq(&iw->lock);
	return length;
}
