// SPDX-License-Identifier: GPL-2.0
/* For tests, and refused unless the module was loaded with test_hooks=1:
 *
 *   echo 3 >fail_allocation               the third allocation from now on fails
 *   echo iw_dispatch sda >provoke         the core panics when that function is next called for that disk
 *   echo iw_requeue sda refuse >provoke   that call is refused
 */
#include <linux/module.h>
#include <linux/string.h>

#include "queue.h"

static bool test_hooks;
module_param(test_hooks, bool, 0400);
MODULE_PARM_DESC(test_hooks, "for tests: allow `provoke` and `fail_allocation`");

/* --- Allocations: a test goes through every place that allocates ----------------------------------------- */

static unsigned int fail_allocation;

static int fail_allocation_set(const char *value, const struct kernel_param *param)
{
	return test_hooks ? param_set_uint(value, param) : -EPERM;
}

static const struct kernel_param_ops fail_allocation_ops = { .set = fail_allocation_set, .get = param_get_uint };
module_param_cb(fail_allocation, &fail_allocation_ops, &fail_allocation, 0600);
MODULE_PARM_DESC(fail_allocation, "for tests: the allocation that fails, counted from now (0: none)");

bool iw_allocation_fails(void)
{
	return fail_allocation && !--fail_allocation;
}

/* --- Calls of the core ------------------------------------------------------------------------------------- */

DEFINE_STATIC_KEY_FALSE(iw_hooked);
static DEFINE_SPINLOCK(wanted_lock);
static struct {
	char function[IW_NAME], disk[DISK_NAME_LEN], how[8];
} wanted;

/* Whether this call is the wanted one, and how it is to go wrong. */
static bool iw_wanted(struct iw_queue *iw, const char *function, bool *refuse)
{
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&wanted_lock, flags);
	found = !strcmp(wanted.function, function) && iw->q->disk && !strcmp(wanted.disk, iw->q->disk->disk_name);
	*refuse = !strcmp(wanted.how, "refuse");
	if (found)
		wanted.function[0] = 0;
	spin_unlock_irqrestore(&wanted_lock, flags);
	return found;
}

int iw_instead(struct iw_queue *iw, const char *function)
{
	bool refuse;

	if (iw->broken || !iw_wanted(iw, function, &refuse))
		return !iw->broken;
	if (refuse)
		return -EINVAL;
	iw_queue_break(iw->host);
	return 0;
}

static int provoke(const char *value, const struct kernel_param *param)
{
	char function[IW_NAME], disk[DISK_NAME_LEN], how[8] = "";

	if (!test_hooks)
		return -EPERM;
	if (sscanf(value, "%39s %31s %7s", function, disk, how) < 2)
		return -EINVAL;
	spin_lock_irq(&wanted_lock);
	strscpy(wanted.function, function, sizeof(wanted.function));
	strscpy(wanted.disk, disk, sizeof(wanted.disk));
	strscpy(wanted.how, how, sizeof(wanted.how));
	spin_unlock_irq(&wanted_lock);
	static_branch_enable(&iw_hooked);
	return 0;
}

static const struct kernel_param_ops provoke_ops = { .set = provoke };
module_param_cb(provoke, &provoke_ops, NULL, 0200);
MODULE_PARM_DESC(provoke, "for tests: `FUNCTION DISK` makes the core panic, with `refuse` behind it refuse");
