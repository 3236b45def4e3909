// SPDX-License-Identifier: GPL-2.0
/* idlewise as a kernel module: every scheduler of the registry as an elevator of its own, and the
 * elevator `idlewise`, which hosts all of them and switches without draining. Elevator is Linux's word for a scheduler
 * that it offers by name.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "queue.h"

static struct iw_elevator *elevators;
static u32 registered;

static int register_one(struct iw_elevator *elevator, u32 scheduler)
{
	int error;

	elevator->scheduler = scheduler;
	if (scheduler < iw_schedulers())
		iw_elevator_name(scheduler, elevator->name, sizeof(elevator->name) - 1);
	else
		strscpy(elevator->name, "idlewise", sizeof(elevator->name));
	elevator->type.elevator_name = elevator->name;
	elevator->type.elevator_owner = THIS_MODULE;
	elevator->type.ops = iw_ops;
	elevator->type.elevator_attrs = iw_attributes_new(scheduler);
	if (!elevator->type.elevator_attrs)
		return -ENOMEM;
	error = elv_register(&elevator->type);
	if (error) {
		pr_err("idlewise: the elevator %s cannot be registered: error %d\n", elevator->name, error);
		kfree(elevator->type.elevator_attrs);
	}
	return error;
}

static void unregister_all(void)
{
	while (registered) {
		struct iw_elevator *last = &elevators[--registered];

		elv_unregister(&last->type);
		kfree(last->type.elevator_attrs);
	}
	kfree(elevators);
}

static int __init idlewise_start(void)
{
	u32 count = iw_schedulers() + 1;
	int error = iw_exits_start();

	iw_parts_start();
	if (error)
		return error;
	error = -ENOMEM;
	elevators = kcalloc(count, sizeof(*elevators), GFP_KERNEL);
	while (elevators && registered < count) {
		error = register_one(&elevators[registered], registered);
		if (error)
			break;
		registered++;
	}
	if (error) {
		unregister_all();
		iw_exits_stop();
	}
	return error;
}

static void __exit idlewise_stop(void)
{
	unregister_all();
	iw_exits_stop();
}

module_init(idlewise_start);
module_exit(idlewise_stop);

MODULE_DESCRIPTION("Disk schedulers: anticipatory, fair, classic; and switching between them without draining");
MODULE_AUTHOR("The idlewise authors");
MODULE_VERSION(IW_VERSION);
MODULE_LICENSE("GPL");
MODULE_ALIAS("idlewise-iosched");
