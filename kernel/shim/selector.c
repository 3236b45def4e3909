// SPDX-License-Identifier: GPL-2.0
/* Who chooses the scheduler inside the elevator `idlewise`, if nobody does by hand.
 *
 *   echo auto-matrix goal=lowest >iosched/policy    this selector, with these settings (policy.c)
 *   cat iosched/auto                                what it last saw and decided
 *   cat MATRIX >iosched/matrix                      what auto-matrix looks up
 *   cat RANKING >iosched/ranking                    what auto-ranking looks up
 *
 * A worker asks the selector when its period is over.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "queue.h"

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
	if (wanted != IW_STAY)
		error = iw_switch(iw, wanted, IW_CHOSEN);
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
	iw->selector = IW_NOBODY;
	INIT_DELAYED_WORK(&iw->asking, iw_ask);
}

void iw_policy_end(struct iw_queue *iw)
{
	cancel_delayed_work_sync(&iw->asking);
	kfree(iw->words);
	iw_table_free(iw->matrix);
	iw_table_free(iw->ranking);
	iw_curve_free(iw->curve);
}

/* From now on the selector of that number, with these settings, chooses. With the policy's lock held. */
int iw_choose(struct iw_queue *iw, u32 number, const char *settings, size_t length)
{
	struct iw_order order = {
		.selector = number,
		.ids = iw->device.ids,
		.rotational = iw->device.rotational,
		.words = settings,
		.length = length,
		.matrix = iw->matrix,
		.ranking = iw->ranking,
	};
	char *words = kmemdup_nul(settings, length, GFP_NOIO);
	struct iw_auto *selector, *former;
	char wrong[IW_MESSAGE] = "no memory";
	int error = -ENOMEM;

	selector = words ? iw_auto_new(&order, ktime_get_ns(), &error, &wrong) : NULL;
	if (!selector) {
		pr_notice_ratelimited("idlewise: %s\n", wrong);
		kfree(words);
		return error;
	}
	former = iw_set_selector(iw, selector);
	error = iw_carry_out(iw);
	/* The selector that was there stays, if there was one. */
	iw_auto_free(error ? iw_set_selector(iw, former) : former);
	if (!error) {
		swap(iw->words, words);
		iw->selector = number;
	}
	kfree(words);
	return error;
}

/* The scheduler was chosen by hand. With the policy's lock held. */
void iw_choose_no_more(struct iw_queue *iw)
{
	iw_auto_free(iw_set_selector(iw, NULL));
	iw->selector = IW_NOBODY;
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

/* --- What selectors look up ------------------------------------------------------------------------------ */

/* Whether the selector of that name is at work. */
static bool iw_chooses(struct iw_queue *iw, const char *name)
{
	return iw->selector == (u32)iw_selector_find(name, strlen(name));
}

/* A new table of what the selector called `user` looks up, or `none`. The selector starts over with it. */
static ssize_t iw_table_store(struct iw_queue *iw, struct iw_table **place, const char *user, const char *none,
			      const char *page, size_t count)
{
	struct iw_table *table = NULL;
	char wrong[IW_MESSAGE] = "";
	int error;

	if (!sysfs_streq(page, none)) {
		table = iw_table_new(place == &iw->matrix, page, count, &error, &wrong);
		if (!table) {
			pr_notice_ratelimited("idlewise: what %s looks up: %s\n", user, wrong);
			return error;
		}
	}
	mutex_lock(&iw->policy_lock);
	swap(*place, table);
	error = iw_chooses(iw, user) ? iw_choose(iw, iw->selector, iw->words, strlen(iw->words)) : 0;
	if (error)
		swap(*place, table);
	mutex_unlock(&iw->policy_lock);
	iw_table_free(table);
	return error ?: count;
}

ssize_t iw_matrix_show(struct elevator_queue *e, char *page)
{
	struct iw_queue *iw = e->elevator_data;
	const char *words;
	ssize_t length;

	mutex_lock(&iw->policy_lock);
	words = iw_chooses(iw, "auto-matrix") ? iw->words : "";
	length = iw->matrix ? iw_table_show(iw->matrix, page, PAGE_SIZE) :
			      iw_built_in_matrix(words, strlen(words), page, PAGE_SIZE);
	mutex_unlock(&iw->policy_lock);
	return length;
}

ssize_t iw_matrix_store(struct elevator_queue *e, const char *page, size_t count)
{
	struct iw_queue *iw = e->elevator_data;

	return iw_table_store(iw, &iw->matrix, "auto-matrix", "built-in", page, count);
}

ssize_t iw_ranking_show(struct elevator_queue *e, char *page)
{
	struct iw_queue *iw = e->elevator_data;
	ssize_t length;

	mutex_lock(&iw->policy_lock);
	length = iw->ranking ? iw_table_show(iw->ranking, page, PAGE_SIZE) : sysfs_emit(page, "none\n");
	mutex_unlock(&iw->policy_lock);
	return length;
}

ssize_t iw_ranking_store(struct elevator_queue *e, const char *page, size_t count)
{
	struct iw_queue *iw = e->elevator_data;

	return iw_table_store(iw, &iw->ranking, "auto-ranking", "none", page, count);
}
