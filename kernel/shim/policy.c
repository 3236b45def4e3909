// SPDX-License-Identifier: GPL-2.0
/* Switches the scheduler inside the elevator `idlewise`.
 *
 *   echo cas >iosched/policy                that one
 *   echo auto-matrix >iosched/policy        whichever a selector chooses, period by period (selector.c)
 *   modprobe idlewise policy=cas            that one from when a disk gets the elevator
 *
 * Nothing drains: what waits moves over, what is in flight completes into the new one. Building that, before, and
 * freeing the old one, after, take time, and hold no lock of the queue. What waits moves over some requests at a time, with
 * the lock given back in between.
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
static noinline void iw_switch_begin(struct iw_queue *iw, struct iw_scheduler *scheduler, u32 number, enum iw_why why)
{
	spin_lock_irq(&iw->lock);
	if (why == IW_CHOSEN && iw_callable(iw, "iw_auto_place") == 1)
		iw_auto_place(iw->host, scheduler);
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

/* The scheduler of that number takes over. With the policy's lock held. */
int iw_switch(struct iw_queue *iw, u32 number, enum iw_why why)
{
	struct iw_scheduler *scheduler;
	int error;

	scheduler = iw_scheduler_new(number, &iw->device, &error);
	if (!scheduler)
		return error;
	iw_switch_begin(iw, scheduler, number, why);
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

/* The disk has another curve of positioning times, whatever the scheduler has learned; null is the usual one. */
static int iw_set_curve(struct iw_queue *iw, struct iw_curve *curve)
{
	mutex_lock(&iw->policy_lock);
	swap(iw->curve, curve);
	spin_lock_irq(&iw->lock);
	if (iw_callable(iw, "iw_queue_set_curve") == 1)
		iw_queue_set_curve(iw->host, iw->curve);
	spin_unlock_irq(&iw->lock);
	mutex_unlock(&iw->policy_lock);
	iw_curve_free(curve);
	iw_wake(iw);
	return READ_ONCE(iw->broken) ? -EIO : 0;
}

ssize_t iw_curve_file_show(struct elevator_queue *e, char *page)
{
	struct iw_queue *iw = e->elevator_data;
	ssize_t length;

	mutex_lock(&iw->policy_lock);
	length = iw->curve ? iw_curve_show(iw->curve, page, PAGE_SIZE) : sysfs_emit(page, "learned\n");
	mutex_unlock(&iw->policy_lock);
	return length;
}

ssize_t iw_curve_file_store(struct elevator_queue *e, const char *page, size_t count)
{
	struct iw_curve *curve = NULL;
	char wrong[IW_MESSAGE] = "no memory";
	int error;

	if (!sysfs_streq(page, "learned")) {
		curve = iw_curve_new(page, count, &error, &wrong);
		if (!curve) {
			pr_notice_ratelimited("idlewise: curve: %s\n", wrong);
			return error;
		}
	}
	return iw_set_curve(e->elevator_data, curve) ?: count;
}

/* What is written to `policy`: a scheduler, or a selector and its settings. With the policy's lock held. */
static int iw_policy_set(struct iw_queue *iw, const char *text, size_t length)
{
	size_t name = strcspn(text, " \n");
	int number = iw_selector_find(text, name), error;

	if (number >= 0)
		return iw_choose(iw, number, text + name, length - name);
	number = iw_scheduler_find(text, name);
	if (number < 0) {
		pr_notice_ratelimited("idlewise: there is no scheduler or selector %.*s; policy lists those there are\n",
				      (int)name, text);
		return number;
	}
	error = iw_switch(iw, number, IW_BY_HAND);
	if (!error)
		iw_choose_no_more(iw);
	return error;
}

ssize_t iw_policy_show(struct elevator_queue *e, char *page)
{
	struct iw_queue *iw = e->elevator_data;
	char name[IW_NAME];
	ssize_t length = 0;
	u32 number;
	int own;

	for (number = 0; number < iw_schedulers(); number++) {
		own = iw_scheduler_name(number, name, sizeof(name));
		length += sysfs_emit_at(page, length, number == iw->policy ? "[%.*s] " : "%.*s ", own, name);
	}
	for (number = 0; (own = iw_selector_name(number, name, sizeof(name))); number++)
		length += sysfs_emit_at(page, length, number == iw->selector ? "[%.*s] " : "%.*s ", own, name);
	page[length - 1] = '\n';
	return length;
}

ssize_t iw_policy_store(struct elevator_queue *e, const char *page, size_t count)
{
	struct iw_queue *iw = e->elevator_data;
	int error;

	mutex_lock(&iw->policy_lock);
	error = iw_policy_set(iw, page, count);
	mutex_unlock(&iw->policy_lock);
	return error ?: count;
}

/* --- The first policy of a disk ------------------------------------------------------------------------- */

static char first_policy[128];

/* A disk may refuse what fits others; what fits none is refused here. */
static int first_policy_set(const char *value, const struct kernel_param *param)
{
	struct iw_order order = { .ids = 1, .rotational = true };
	size_t name = strcspn(value, " \n");
	int number = iw_selector_find(value, name), error = -EINVAL;
	char wrong[IW_MESSAGE] = "there is no such scheduler or selector";
	struct iw_auto *trial;

	if (number >= 0) {
		order.selector = number;
		order.words = value + name;
		order.length = strlen(order.words);
		trial = iw_auto_new(&order, 0, &error, &wrong);
		if (trial)
			error = 0;
		iw_auto_free(trial);
	} else if (!name || iw_scheduler_find(value, name) >= 0) {
		error = 0;
	}
	if (!error && strlen(value) >= sizeof(first_policy)) {
		strscpy(wrong, "it is too long", sizeof(wrong));
		error = -EINVAL;
	}
	if (error)
		pr_err("idlewise: policy=%.*s: %s\n", (int)strcspn(value, "\n"), value, wrong);
	else
		strscpy(first_policy, value, sizeof(first_policy));
	return error;
}

static int first_policy_get(char *page, const struct kernel_param *param)
{
	return sysfs_emit(page, "%.*s\n", (int)strcspn(first_policy, "\n"), first_policy);
}

static const struct kernel_param_ops first_policy_ops = { .set = first_policy_set, .get = first_policy_get };
module_param_cb(policy, &first_policy_ops, NULL, 0644);
MODULE_PARM_DESC(policy, "what a disk that gets the elevator idlewise begins with, as its file `policy` takes it (noop)");

void iw_policy_first(struct iw_queue *iw)
{
	char policy[sizeof(first_policy)];
	int error;

	kernel_param_lock(THIS_MODULE);
	strscpy(policy, first_policy, sizeof(policy));
	kernel_param_unlock(THIS_MODULE);
	if (!policy[0])
		return;
	mutex_lock(&iw->policy_lock);
	error = iw_policy_set(iw, policy, strlen(policy));
	mutex_unlock(&iw->policy_lock);
	if (error)
		pr_warn("idlewise: %s begins with noop, for its policy failed: error %d\n",
			iw->q->disk ? iw->q->disk->disk_name : "a disk", error);
}
