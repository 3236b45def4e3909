// SPDX-License-Identifier: GPL-2.0
/* Compiled only for its checksum. The kernel's build counts one over all types that a function of the block layer reaches;
 * the kernel's own stands in Module.symvers. Where the same function gets the same checksum from these headers, every
 * structure that an elevator shares with the kernel is the same. So the headers are those that the kernel's file has, in
 * its order.
 */
#include <linux/kernel.h>
#include <linux/fs.h>
#include <linux/blkdev.h>
#include <linux/bio.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/init.h>
#include <linux/compiler.h>
#include <linux/blktrace_api.h>
#include <linux/hash.h>
#include <linux/uaccess.h>
#include <linux/pm_runtime.h>
#include <trace/events/block.h>
#include "elevator.h"
#include "blk.h"
#include "blk-mq-sched.h"
#include "blk-pm.h"
#include "blk-wbt.h"
#include "blk-cgroup.h"

int elv_register(struct elevator_type *type)
{
	return 0;
}
EXPORT_SYMBOL_GPL(elv_register);
