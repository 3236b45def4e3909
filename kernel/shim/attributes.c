// SPDX-License-Identifier: GPL-2.0
/* The files below iosched/: a scheduler's tunables, and what is counted.
 *
 * The kernel does not tell an attribute's function which attribute is meant. So there is a function
 * for each place in the table of tunables, made by macros. The elevator `idlewise` has other files
 * instead: `policy` (policy.c), `auto`, `matrix` and `ranking` (selector.c), and `settings`, the tunables of the
 * scheduler inside, a line for each.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "queue.h"

/* --- Tunables --------------------------------------------------------------------------------------- */

static u64 iw_get(struct iw_queue *iw, u32 tunable)
{
	u64 value;

	spin_lock_irq(&iw->lock);
	value = iw_core(iw, iw_queue_get, tunable);
	spin_unlock_irq(&iw->lock);
	return value;
}

static int iw_set(struct iw_queue *iw, u32 tunable, const char *text, size_t length)
{
	char wrong[IW_MESSAGE];
	u64 value = U64_MAX;
	int error;

	error = iw_tunable_parse(iw->policy, tunable, text, length, &value, &wrong);
	if (error) {
		pr_notice_ratelimited("idlewise: %s\n", wrong);
		return error;
	}
	spin_lock_irq(&iw->lock);
	error = iw_core(iw, iw_queue_set, tunable, value);
	iw->front_merges = iw_core(iw, iw_front_merges);
	if (iw->broken)
		error = -EIO;
	spin_unlock_irq(&iw->lock);
	iw_wake(iw);
	return error;
}

static ssize_t iw_show(struct elevator_queue *e, char *page, u32 tunable)
{
	struct iw_queue *iw = e->elevator_data;
	size_t length = iw_tunable_format(iw->policy, tunable, iw_get(iw, tunable), page, PAGE_SIZE - 1);

	page[length] = '\n';
	return length + 1;
}

static ssize_t iw_store(struct elevator_queue *e, const char *page, size_t count, u32 tunable)
{
	return iw_set(e->elevator_data, tunable, page, count) ?: count;
}

#define EACH8(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
/* Octal, so that the digits make numbers: 060 is 48. */
#define EACH(m) EACH8(m, 00) EACH8(m, 01) EACH8(m, 02) EACH8(m, 03) EACH8(m, 04) EACH8(m, 05)

#define FUNCTIONS(n)								\
static ssize_t show_##n(struct elevator_queue *e, char *page)			\
{										\
	return iw_show(e, page, n);						\
}										\
static ssize_t store_##n(struct elevator_queue *e, const char *page, size_t count)	\
{										\
	return iw_store(e, page, count, n);					\
}
EACH(FUNCTIONS)

#define FUNCTION_NAMES(n) { show_##n, store_##n },
static const struct {
	ssize_t (*show)(struct elevator_queue *e, char *page);
	ssize_t (*store)(struct elevator_queue *e, const char *page, size_t count);
} tunable_functions[] = { EACH(FUNCTION_NAMES) };
static_assert(ARRAY_SIZE(tunable_functions) == IW_TUNABLES);

/* --- Settings of the scheduler inside ---------------------------------------------------------------- */

static ssize_t settings_show(struct elevator_queue *e, char *page)
{
	struct iw_queue *iw = e->elevator_data;
	char name[IW_NAME], value[IW_NAME];
	ssize_t length = 0;
	u32 tunable;

	mutex_lock(&iw->policy_lock);
	for (tunable = 0; tunable < iw_tunables(iw->policy); tunable++) {
		int named = iw_tunable_name(iw->policy, tunable, name, sizeof(name));
		int shown = iw_tunable_format(iw->policy, tunable, iw_get(iw, tunable), value, sizeof(value));

		length += sysfs_emit_at(page, length, "%.*s %.*s\n", named, name, shown, value);
	}
	mutex_unlock(&iw->policy_lock);
	return length;
}

/* One line: NAME VALUE */
static ssize_t settings_store(struct elevator_queue *e, const char *page, size_t count)
{
	struct iw_queue *iw = e->elevator_data;
	size_t length = strcspn(page, " =\n"), value = length + (page[length] != 0);
	char name[IW_NAME];
	int error = -EINVAL;
	u32 tunable;

	mutex_lock(&iw->policy_lock);
	for (tunable = 0; tunable < iw_tunables(iw->policy); tunable++)
		if (iw_tunable_name(iw->policy, tunable, name, sizeof(name)) == length && !memcmp(name, page, length))
			break;
	if (tunable < iw_tunables(iw->policy))
		error = iw_set(iw, tunable, page + value, count - value);
	else
		pr_notice_ratelimited("idlewise: there is no setting %.*s; settings lists those there are\n",
				      (int)length, page);
	mutex_unlock(&iw->policy_lock);
	return error ?: count;
}

/* --- Who is an issuer ------------------------------------------------------------------------------- */

static const char *const issuers[] = { "thread", "process" };

static ssize_t issuer_show(struct elevator_queue *e, char *page)
{
	struct iw_queue *iw = e->elevator_data;

	return sysfs_emit(page, "%s\n", issuers[READ_ONCE(iw->by_process)]);
}

static ssize_t issuer_store(struct elevator_queue *e, const char *page, size_t count)
{
	int which = sysfs_match_string(issuers, page);

	if (which < 0) {
		pr_notice_ratelimited("idlewise: an issuer is a thread or a process\n");
		return which;
	}
	iw_exits_by_process(e->elevator_data, which);
	return count;
}

/* --- What is counted -------------------------------------------------------------------------------- */

#define COUNTED(field)								\
static ssize_t field##_show(struct elevator_queue *e, char *page)		\
{										\
	return sysfs_emit(page, "%llu\n",					\
			  (u64)READ_ONCE(((struct iw_queue *)e->elevator_data)->field));	\
}
#define COUNTERS(m)								\
	m(inserted) m(dispatched) m(completed) m(merged) m(absorbed) m(requeued) m(split) m(waits)	\
	m(issuers) m(exits) m(waiting) m(in_flight) m(broken)
COUNTERS(COUNTED)
COUNTED(switches)

#define COUNTER_FILE(field) { { .name = #field, .mode = 0444 }, field##_show, NULL },
/* What every elevator has. */
static const struct elv_fs_entry common[] = {
	{ { .name = "issuer", .mode = 0644 }, issuer_show, issuer_store },
	{ { .name = "curve", .mode = 0644 }, iw_curve_file_show, iw_curve_file_store },
	{ { .name = "weights", .mode = 0644 }, iw_weights_show, iw_weights_store },
	COUNTERS(COUNTER_FILE)
};

static const struct elv_fs_entry hosting[] = {
	{ { .name = "policy", .mode = 0644 }, iw_policy_show, iw_policy_store },
	{ { .name = "auto", .mode = 0444 }, iw_auto_file, NULL },
	{ { .name = "matrix", .mode = 0644 }, iw_matrix_show, iw_matrix_store },
	{ { .name = "ranking", .mode = 0644 }, iw_ranking_show, iw_ranking_store },
	{ { .name = "settings", .mode = 0644 }, settings_show, settings_store },
	COUNTER_FILE(switches)
};

/* The files of a scheduler's elevator, or of the hosting one. The names follow behind the table, so
 * that kfree() takes all.
 */
struct elv_fs_entry *iw_attributes_new(u32 scheduler)
{
	u32 tunables = iw_tunables(scheduler), i;
	bool hosts = scheduler >= iw_schedulers();
	u32 own = hosts ? ARRAY_SIZE(hosting) : tunables;
	struct elv_fs_entry *table;
	char *names;

	if (tunables > IW_TUNABLES) {
		pr_err("idlewise: a scheduler has %u tunables, more than %u\n", tunables, IW_TUNABLES);
		return NULL;
	}
	table = kzalloc((own + ARRAY_SIZE(common) + 1) * sizeof(*table) + tunables * IW_NAME, GFP_KERNEL);
	if (!table)
		return NULL;
	names = (char *)(table + own + ARRAY_SIZE(common) + 1);
	if (hosts)
		memcpy(table, hosting, sizeof(hosting));
	for (i = 0; i < tunables; i++, names += IW_NAME) {
		iw_tunable_name(scheduler, i, names, IW_NAME - 1);
		table[i].attr.name = names;
		table[i].attr.mode = 0644;
		table[i].show = tunable_functions[i].show;
		table[i].store = tunable_functions[i].store;
	}
	memcpy(table + own, common, sizeof(common));
	/* The lock checker must be told of attributes that are not static. */
	for (i = 0; i < own + ARRAY_SIZE(common); i++)
		sysfs_attr_init(&table[i].attr);
	return table;
}
