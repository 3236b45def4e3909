// SPDX-License-Identifier: GPL-2.0
/* Weights that an administrator gives to those who issue, for schedulers that share the disk by weight:
 *
 *   echo 4711 300 >iosched/weights                   a thread, or all threads of a process
 *   echo uid 1000 50 >iosched/weights                all processes of a user
 *   echo cgroup /backup 10 >iosched/weights          all of a control group and those below
 *   echo cgroup /backup default >iosched/weights     takes one back; `none` takes all back
 *
 * Of several the first kind counts that fits, in this order: thread, process, control group (the deepest), user. The
 * weight that the kernel keeps as io.weight belongs to its own controllers; an elevator cannot read it.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "queue.h"

/* Each is compared when another process issues than the one before. */
#define IW_WEIGHTS 64
#define IW_PATH 200
#define IW_WEIGHT_MAX 10000

enum iw_kind {
	IW_OF_TASK,
	IW_OF_USER,
	IW_OF_CGROUP,
};

struct iw_weight {
	struct list_head list;
	enum iw_kind kind;
	u32 number;		/* of the thread, process or user */
	struct cgroup *cgroup;
	u32 weight;
	char path[IW_PATH];
};

/* --- Who has which weight ----------------------------------------------------------------------------- */

/* How closely the weight fits the issuer: 0, not at all. Under RCU. */
static int iw_fits(const struct iw_weight *own, u32 issuer, struct task_struct *task)
{
	switch (own->kind) {
	case IW_OF_TASK:
		return own->number == issuer ? INT_MAX : task && own->number == task->tgid ? INT_MAX - 1 : 0;
	case IW_OF_USER:
		return task && own->number == from_kuid(&init_user_ns, task_uid(task));
#ifdef CONFIG_CGROUPS
	case IW_OF_CGROUP:
		return task && cgroup_is_descendant(task_dfl_cgroup(task), own->cgroup) ? own->cgroup->level + 2 : 0;
#endif
	default:
		return 0;
	}
}

/* The weight that was given to the issuer, or 0. With the lock held. */
u32 iw_weight_of(struct iw_queue *iw, u32 issuer)
{
	struct iw_weight *own;
	struct task_struct *task;
	int best = 0;
	u32 weight = 0;

	if (likely(list_empty(&iw->given)))
		return 0;
	rcu_read_lock();
	task = pid_task(find_pid_ns(issuer, &init_pid_ns), PIDTYPE_PID);
	list_for_each_entry(own, &iw->given, list) {
		int fit = iw_fits(own, issuer, task);

		if (fit > best) {
			best = fit;
			weight = own->weight;
		}
	}
	rcu_read_unlock();
	return weight;
}

static void iw_weight_free(struct iw_weight *own)
{
#ifdef CONFIG_CGROUPS
	if (own->cgroup)
		cgroup_put(own->cgroup);
#endif
	kfree(own);
}

/* A thread or process has exited: its number may become another's. */
void iw_weights_exit(struct iw_queue *iw, u32 number)
{
	struct iw_weight *own, *next;
	unsigned long flags;

	if (list_empty_careful(&iw->given))
		return;
	spin_lock_irqsave(&iw->lock, flags);
	list_for_each_entry_safe(own, next, &iw->given, list)
		if (own->kind == IW_OF_TASK && own->number == number) {
			list_del(&own->list);
			iw_weight_free(own);
		}
	spin_unlock_irqrestore(&iw->lock, flags);
}

void iw_weights_free(struct iw_queue *iw)
{
	struct iw_weight *own, *next;

	list_for_each_entry_safe(own, next, &iw->given, list)
		iw_weight_free(own);
	INIT_LIST_HEAD(&iw->given);
}

/* --- What is written and shown ------------------------------------------------------------------------ */

static int iw_weight_find(struct iw_weight *own)
{
	bool there = true;

	if (own->kind == IW_OF_TASK) {
		rcu_read_lock();
		there = pid_task(find_pid_ns(own->number, &init_pid_ns), PIDTYPE_PID);
		rcu_read_unlock();
	} else if (own->kind == IW_OF_CGROUP) {
#ifdef CONFIG_CGROUPS
		own->cgroup = cgroup_get_from_path(own->path);
		if (IS_ERR(own->cgroup))
			own->cgroup = NULL;
#endif
		there = own->cgroup;
	}
	if (there)
		return 0;
	if (own->kind == IW_OF_TASK)
		pr_notice_ratelimited("idlewise: weights: there is no thread or process %u\n", own->number);
	else
		pr_notice_ratelimited("idlewise: weights: there is no control group %s\n", own->path);
	return own->kind == IW_OF_TASK ? -ESRCH : -ENOENT;
}

/* Of a line; a weight of 0 is the usual one. */
static int iw_weight_parse(struct iw_weight *own, const char *line)
{
	char weight[12] = "", rest[2] = "";
	int fields, wanted = 3;

	if (!strncmp(line, "uid ", 4)) {
		own->kind = IW_OF_USER;
		fields = 1 + sscanf(line, "uid %u %11s %1s", &own->number, weight, rest);
	} else if (!strncmp(line, "cgroup ", 7)) {
		own->kind = IW_OF_CGROUP;
		fields = 1 + sscanf(line, "cgroup %199s %11s %1s", own->path, weight, rest);
	} else {
		own->kind = IW_OF_TASK;
		fields = 1 + sscanf(line, "%u %11s %1s", &own->number, weight, rest);
	}
	if (fields == wanted && own->number <= INT_MAX &&
	    (!strcmp(weight, "default") || (!kstrtou32(weight, 10, &own->weight) && own->weight &&
					    own->weight <= IW_WEIGHT_MAX)))
		return 0;
	pr_notice_ratelimited("idlewise: weights takes PID WEIGHT, uid NUMBER WEIGHT, cgroup PATH WEIGHT or none; a weight is 1 to %u, or default\n",
			      IW_WEIGHT_MAX);
	return -EINVAL;
}

static bool iw_same(const struct iw_weight *a, const struct iw_weight *b)
{
	return a->kind == b->kind && a->number == b->number && a->cgroup == b->cgroup;
}

/* Takes the place of what was said of the same. */
static int iw_weight_put(struct iw_queue *iw, struct iw_weight *own)
{
	struct iw_weight *there, *next, *former = NULL;
	unsigned int count = 0;
	int error = 0;

	spin_lock_irq(&iw->lock);
	list_for_each_entry_safe(there, next, &iw->given, list) {
		count++;
		if (iw_same(there, own)) {
			list_del(&there->list);
			former = there;
			count--;
		}
	}
	if (own->weight && count == IW_WEIGHTS) {
		error = -ENOSPC;
	} else if (own->weight) {
		list_add_tail(&own->list, &iw->given);
		own = NULL;
	}
	/* Whoever issues next is weighed anew. */
	iw->weights = true;
	iw->weighed = 0;
	spin_unlock_irq(&iw->lock);
	if (former)
		iw_weight_free(former);
	if (own)
		iw_weight_free(own);
	if (error)
		pr_notice_ratelimited("idlewise: weights has %u lines, and no room for more\n", IW_WEIGHTS);
	return error;
}

static int iw_weight_line(struct iw_queue *iw, const char *line)
{
	struct iw_weight *own = kzalloc(sizeof(*own), GFP_KERNEL);
	int error;

	if (!own)
		return -ENOMEM;
	error = iw_weight_parse(own, line) ?: iw_weight_find(own);
	if (!error)
		return iw_weight_put(iw, own);
	iw_weight_free(own);
	return error;
}

ssize_t iw_weights_store(struct elevator_queue *e, const char *page, size_t count)
{
	struct iw_queue *iw = e->elevator_data;
	LIST_HEAD(all);
	struct iw_weight *own, *next;

	if (!sysfs_streq(page, "none"))
		return iw_weight_line(iw, page) ?: count;
	spin_lock_irq(&iw->lock);
	list_splice_init(&iw->given, &all);
	iw->weighed = 0;
	spin_unlock_irq(&iw->lock);
	list_for_each_entry_safe(own, next, &all, list)
		iw_weight_free(own);
	return count;
}

ssize_t iw_weights_show(struct elevator_queue *e, char *page)
{
	struct iw_queue *iw = e->elevator_data;
	struct iw_weight *own;
	ssize_t length = 0;

	spin_lock_irq(&iw->lock);
	list_for_each_entry(own, &iw->given, list)
		if (own->kind == IW_OF_CGROUP)
			length += sysfs_emit_at(page, length, "cgroup %s %u\n", own->path, own->weight);
		else
			length += sysfs_emit_at(page, length, "%s%u %u\n", own->kind == IW_OF_USER ? "uid " : "",
						own->number, own->weight);
	spin_unlock_irq(&iw->lock);
	return length ?: sysfs_emit(page, "none\n");
}
