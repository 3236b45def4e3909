// SPDX-License-Identifier: GPL-2.0
/* Disks that do not exist: block devices whose commands take the time that a model of a disk says,
 * and whose data lies in memory.
 *
 *   insmod idlewise-disk.ko "disks=deskstar-34gxp;nvme-ssd:depth=8"
 *
 * makes /dev/iwdisk0 and /dev/iwdisk1. Each disk is named as on the command line of idlewise. With "slower=4" all that
 * the disks do takes four times as long: beside such disks the processor is four times as fast.
 *
 * A command goes to the model when the block layer issues it. The model says when to look again; a
 * timer of the highest resolution does, and completes what is done by then, as an interrupt of a
 * controller would.
 */
#include <linux/module.h>

#include "model.h"
#include "../shim/compat.h"
#include "../shim/operation.h"
#include "../shim/shared.h"
#include "store.h"

#define IWD_MOST 16
/* A disk of less depth has as many tags nevertheless, as SCSI disks do: a scheduler needs requests to
 * choose from, and gets twice as many as there are tags, up to 256.
 */
#define IWD_TAGS 128
/* 1280 KB, the block layer's own choice for disks that do not say. */
#define IWD_SECTORS 2560
/* 64 MB: pages are given back without a pause. */
#define IWD_DISCARD_SECTORS (64 << (20 - SECTOR_SHIFT))

static char *disks = "deskstar-34gxp";
static unsigned int slower = 1;
module_param(disks, charp, 0444);
module_param(slower, uint, 0444);
MODULE_PARM_DESC(disks, "the disks, NAME or NAME:key=value,key=value, with semicolons between (default: deskstar-34gxp)");
MODULE_PARM_DESC(slower, "how many times as long everything takes the disks, 1 to 1000 (default: 1)");

struct iwd {
	spinlock_t lock;		/* the model, the timer, what is counted */
	struct iwd_model *model;
	struct hrtimer timer;
	struct iwd_store store;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
	struct iwd_traits traits;
	atomic_t room;			/* commands that the model still takes */
	bool broken;			/* the model has panicked, and is not called again */
	u64 commands, cached, seek, rotation, transfer, overhead;
	atomic_long_t returned;		/* commands that found no memory, and come again */
};

static struct iwd *iwds[IWD_MOST];
static unsigned int count;
static int major;

/* Called by the model's code, in whatever context this file called it, which then returns 0 (asm/guard.h). `first` is the
 * first argument of what was called: a model, but for a new one.
 */
void iw_panicked(const char *text, size_t length, const void *first)
{
	unsigned int number;

	pr_emerg("idlewise-disk: the model's code panicked: %.*s\n", (int)length, text);
	dump_stack();
	for (number = 0; number < IWD_MOST; number++) {
		if (!iwds[number] || iwds[number]->model != first)
			continue;
		WRITE_ONCE(iwds[number]->broken, true);
		pr_emerg("idlewise-disk: iwdisk%u fails all commands from now on. This is a mistake in idlewise: please report the lines above.\n",
			 number);
	}
}

/* --- Commands ------------------------------------------------------------------------------------ */

/* The models' clock. */
static u64 iwd_now(void)
{
	return div_u64(ktime_get_ns(), slower);
}

/* The timer stands where the model wants to be looked at next. With the lock held. */
static void iwd_arm(struct iwd *iwd)
{
	u64 next = iwd->broken ? IWD_NEVER : iwd_next(iwd->model);

	if (next != IWD_NEVER && !iwd->broken)
		hrtimer_start(&iwd->timer, ns_to_ktime(next * slower), HRTIMER_MODE_ABS);
}

static void iwd_count(struct iwd *iwd, const struct iwd_completion *done)
{
	iwd->commands++;
	iwd->cached += done->cached;
	iwd->seek += done->seek;
	iwd->rotation += done->rotation;
	iwd->transfer += done->transfer;
	iwd->overhead += done->overhead;
}

/* The block layer asks for room before it asks the scheduler for a request. */
static int iwd_get_budget(struct request_queue *q)
{
	struct iwd *iwd = q->queuedata;

	return atomic_dec_if_positive(&iwd->room) < 0 ? -1 : 0;
}

static void iwd_put_budget(struct request_queue *q, int token)
{
	struct iwd *iwd = q->queuedata;

	atomic_inc(&iwd->room);
}

static void iwd_set_token(struct request *rq, int token)
{
	*(int *)blk_mq_rq_to_pdu(rq) = token;
}

static int iwd_get_token(struct request *rq)
{
	return *(int *)blk_mq_rq_to_pdu(rq);
}

static enum hrtimer_restart iwd_timer(struct hrtimer *timer)
{
	struct iwd *iwd = container_of(timer, struct iwd, timer);
	struct iwd_completion done;
	unsigned long flags;
	struct request *rq;
	bool any = false;

	spin_lock_irqsave(&iwd->lock, flags);
	while (!iwd->broken && iwd_advance(iwd->model, iwd_now(), &done)) {
		iwd_count(iwd, &done);
		rq = blk_mq_tag_to_rq(iwd->tags.tags[0], done.tag);
		/* Completing may run the queue, which submits. */
		spin_unlock_irqrestore(&iwd->lock, flags);
		atomic_inc(&iwd->room);
		blk_mq_complete_request(rq);
		any = true;
		spin_lock_irqsave(&iwd->lock, flags);
	}
	iwd_arm(iwd);
	spin_unlock_irqrestore(&iwd->lock, flags);
	if (any)
		blk_mq_run_hw_queues(iwd->disk->queue, true);
	return HRTIMER_NORESTART;
}

static blk_status_t iwd_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct iwd *iwd = hctx->queue->queuedata;
	struct request *rq = bd->rq;
	struct iwd_command command = {
		.start = blk_rq_pos(rq),
		.length = blk_rq_sectors(rq),
		.tag = rq->tag,
		.operation = iw_operation_of(req_op(rq)),
		.fua = rq->cmd_flags & REQ_FUA,
	};
	unsigned long flags;
	blk_status_t status;

	/* Copying the data is no part of the time that the disk takes: it gets the command afterwards. */
	status = iwd_store_serve(&iwd->store, rq);
	if (status == BLK_STS_OK) {
		blk_mq_start_request(rq);
		spin_lock_irqsave(&iwd->lock, flags);
		if (iwd->broken || iwd_submit(iwd->model, iwd_now(), &command) || iwd->broken)
			status = BLK_STS_IOERR;
		iwd_arm(iwd);
		spin_unlock_irqrestore(&iwd->lock, flags);
	}
	if (status == BLK_STS_RESOURCE)
		atomic_long_inc(&iwd->returned);
	if (status != BLK_STS_OK) {
		/* Without a token, so that the block layer does not give the room back once more. */
		iwd_put_budget(hctx->queue, iwd_get_token(rq));
		iwd_set_token(rq, -1);
	}
	return status;
}

static void iwd_complete(struct request *rq)
{
	struct iwd *iwd = rq->q->queuedata;

	blk_mq_end_request(rq, READ_ONCE(iwd->broken) ? BLK_STS_IOERR : BLK_STS_OK);
}

/* A disk that is slow is no reason to give up on a command; one that has panicked is. */
static enum blk_eh_timer_return iwd_timeout(struct request *rq)
{
	struct iwd *iwd = rq->q->queuedata;

	if (!READ_ONCE(iwd->broken))
		return BLK_EH_RESET_TIMER;
	atomic_inc(&iwd->room);
	blk_mq_complete_request(rq);
	return BLK_EH_DONE;
}

static const struct blk_mq_ops iwd_mq_ops = {
	.queue_rq = iwd_queue_rq,
	.complete = iwd_complete,
	.timeout = iwd_timeout,
	.get_budget = iwd_get_budget,
	.put_budget = iwd_put_budget,
	.set_rq_budget_token = iwd_set_token,
	.get_rq_budget_token = iwd_get_token,
};

/* --- What is counted: /sys/block/iwdisk0/model --------------------------------------------------- */

static struct iwd *iwd_of(struct device *dev)
{
	return dev_to_disk(dev)->private_data;
}

static ssize_t profile_show(struct device *dev, struct device_attribute *attribute, char *page)
{
	return sysfs_emit(page, "%s\n", iwd_of(dev)->traits.name);
}
static DEVICE_ATTR_RO(profile);

#define COUNTED(file, field)									\
static ssize_t file##_show(struct device *dev, struct device_attribute *attribute, char *page)	\
{												\
	return sysfs_emit(page, "%llu\n", READ_ONCE(iwd_of(dev)->field));			\
}												\
static DEVICE_ATTR_RO(file)

COUNTED(commands, commands);
COUNTED(cached, cached);
COUNTED(seek_ns, seek);
COUNTED(rotation_ns, rotation);
COUNTED(transfer_ns, transfer);
COUNTED(overhead_ns, overhead);

static ssize_t returned_show(struct device *dev, struct device_attribute *attribute, char *page)
{
	return sysfs_emit(page, "%lu\n", atomic_long_read(&iwd_of(dev)->returned));
}
static DEVICE_ATTR_RO(returned);

static struct attribute *iwd_attributes[] = {
	&dev_attr_profile.attr,
	&dev_attr_commands.attr,
	&dev_attr_cached.attr,
	&dev_attr_seek_ns.attr,
	&dev_attr_rotation_ns.attr,
	&dev_attr_transfer_ns.attr,
	&dev_attr_overhead_ns.attr,
	&dev_attr_returned.attr,
	NULL,
};

static const struct attribute_group iwd_group = { .name = "model", .attrs = iwd_attributes };
static const struct attribute_group *iwd_groups[] = { &iwd_group, NULL };

/* --- Disks come and go ----------------------------------------------------------------------------- */

static const struct block_device_operations iwd_operations = { .owner = THIS_MODULE };

static int iwd_queue(struct iwd *iwd)
{
	const struct iw_limits limits = {
		.sectors = IWD_SECTORS,
		.discard_sectors = IWD_DISCARD_SECTORS,
		.rotational = iwd->traits.rotational,
		.write_cache = iwd->traits.write_cache,
	};
	int error;

	iwd->tags.ops = &iwd_mq_ops;
	iwd->tags.nr_hw_queues = 1;
	iwd->tags.queue_depth = clamp_t(u32, iwd->traits.depth, IWD_TAGS, BLK_MQ_MAX_DEPTH);
	iwd->tags.cmd_size = sizeof(int);
	atomic_set(&iwd->room, iwd->traits.depth);
	iwd->tags.numa_node = NUMA_NO_NODE;
	iwd->tags.flags = IW_TAG_SET_FLAGS;
	error = blk_mq_alloc_tag_set(&iwd->tags);
	if (error)
		return error;
	iwd->disk = iw_disk_new(&iwd->tags, &limits, iwd);
	if (IS_ERR(iwd->disk)) {
		blk_mq_free_tag_set(&iwd->tags);
		return PTR_ERR(iwd->disk);
	}
	blk_set_queue_depth(iwd->disk->queue, iwd->traits.depth);
	return 0;
}

static int iwd_disk(struct iwd *iwd, unsigned int number)
{
	int error = iwd_queue(iwd);

	if (error)
		return error;
	iwd->disk->major = major;
	iwd->disk->first_minor = number * DISK_MAX_PARTS;
	iwd->disk->minors = DISK_MAX_PARTS;
	iwd->disk->fops = &iwd_operations;
	iwd->disk->private_data = iwd;
	snprintf(iwd->disk->disk_name, DISK_NAME_LEN, "iwdisk%u", number);
	set_capacity(iwd->disk, iwd->traits.sectors);
	error = device_add_disk(NULL, iwd->disk, iwd_groups);
	if (error) {
		hrtimer_cancel(&iwd->timer);
		put_disk(iwd->disk);
		blk_mq_free_tag_set(&iwd->tags);
	}
	return error;
}

static void iwd_free_all(struct iwd *iwd)
{
	iwd_store_empty(&iwd->store);
	/* What has panicked is not touched again, and its memory is lost. */
	if (iwd->model && !iwd->broken)
		iwd_free(iwd->model);
	kfree(iwd);
}

static int iwd_add(const char *wanted)
{
	struct iwd *iwd = kzalloc(sizeof(*iwd), GFP_KERNEL);
	char wrong[400] = "";
	int error = -ENOMEM;

	if (!iwd)
		return error;
	spin_lock_init(&iwd->lock);
	iw_timer_init(&iwd->timer, iwd_timer);
	iwd_store_init(&iwd->store);
	iwds[count] = iwd;
	iwd->model = iwd_new(wanted, strlen(wanted), &iwd->traits, &error, wrong, sizeof(wrong));
	if (iwd->model)
		error = iwd_disk(iwd, count);
	if (!iwd->model || error) {
		pr_err("idlewise-disk: %s cannot be had: error %d: %s\n", wanted, error, wrong);
		iwds[count] = NULL;
		iwd_free_all(iwd);
		return error;
	}
	count++;
	return 0;
}

static void iwd_remove_all(void)
{
	while (count) {
		struct iwd *iwd = iwds[--count];

		del_gendisk(iwd->disk);
		/* The timer knows the disk. */
		hrtimer_cancel(&iwd->timer);
		iwds[count] = NULL;
		put_disk(iwd->disk);
		blk_mq_free_tag_set(&iwd->tags);
		iwd_free_all(iwd);
	}
	unregister_blkdev(major, "iwdisk");
}

static int __init iwd_start(void)
{
	char *words, *rest, *word;
	int error = 0;

	if (!slower || slower > 1000) {
		pr_err("idlewise-disk: slower= takes 1 to 1000\n");
		return -EINVAL;
	}
	rest = words = kstrdup(disks, GFP_KERNEL);
	if (!words)
		return -ENOMEM;
	major = register_blkdev(0, "iwdisk");
	if (major < 0) {
		kfree(words);
		return major;
	}
	while (!error && (word = strsep(&rest, ";"))) {
		if (!*word)
			continue;
		if (count == IWD_MOST) {
			pr_err("idlewise-disk: more than %u disks\n", IWD_MOST);
			error = -EINVAL;
		} else {
			error = iwd_add(word);
		}
	}
	kfree(words);
	if (!error && !count) {
		pr_err("idlewise-disk: disks= names no disk\n");
		error = -EINVAL;
	}
	if (error)
		iwd_remove_all();
	return error;
}

static void __exit iwd_stop(void)
{
	iwd_remove_all();
}

module_init(iwd_start);
module_exit(iwd_stop);

MODULE_DESCRIPTION("Disks made of a model and memory: each command takes the time it would on the disk");
MODULE_AUTHOR("The idlewise authors");
MODULE_VERSION(IW_VERSION);
MODULE_LICENSE("GPL");
