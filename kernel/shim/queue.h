/* SPDX-License-Identifier: GPL-2.0 */
/* One block device under one of our elevators: what the files of the shim share. */
#ifndef IW_QUEUE_H
#define IW_QUEUE_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "core.h"
#include "shared.h"

#define IW_NAME 40	/* longer than any name of a scheduler or tunable */
#define IW_START_BITS 8
#define IW_ROWS 512	/* of processes that issue on a queue */
#define IW_ROW 8

/* Where a request is, as its second private word says. */
enum iw_state {
	IW_OUTSIDE,	/* the core does not know it */
	IW_WAITING,	/* the core holds it */
	IW_IN_FLIGHT,	/* dispatched */
	IW_RETURNED,	/* given back by the device: goes first */
};

struct iw_slot {
	struct request *rq;	/* that the core holds, or that is in flight */
	struct hlist_node by_start;
};

struct iw_queue {
	spinlock_t lock;
	struct iw_host *host;
	struct request_queue *q;
	struct iw_slot *slots;			/* by id */
	DECLARE_HASHTABLE(starts, IW_START_BITS);	/* of waiting requests, by first sector */
	struct request *unindexed;		/* waits, and no merge finds it yet */
	struct list_head direct;		/* requests that the core does not hold: go first */
	unsigned int waiting;			/* in the core or on that list */
	unsigned int in_flight;
	bool held;				/* the core was asked, and wants an event first */
	bool broken;				/* the core has panicked, and is not called again */
	bool fallen;				/* what the core held then is on the list `direct` */
	bool front_merges;
	bool by_process;			/* the threads of a process are one issuer */
	bool weights;				/* somebody has another weight than the usual one, or had */
	struct list_head given;			/* weights that an administrator has given */
	u64 weighed;				/* who was last given a weight, and the level */
	u32 tag_range;				/* scheduler tags that a limit is a part of */
	struct hrtimer timer;			/* when the core wants to be asked again */
	u32 policy;				/* number of the scheduler inside */
	bool carrying;				/* that one has not been handed all that waits */
	struct mutex policy_lock;		/* it changes, or must not */
	u32 selector;				/* number of the selector that chooses it, or IW_NOBODY */
	char *words;				/* the selector's settings */
	struct iw_table *matrix, *ranking;	/* what was measured for selectors, if anything */
	struct delayed_work asking;		/* when the selector is asked */
	struct iw_device device;
	struct iw_curve *curve;			/* that an administrator has given, if any */

	u64 inserted, dispatched, completed;
	u64 merged;		/* bios and requests that became part of a request */
	u64 absorbed;		/* of these, requests that already waited */
	u64 requeued;
	u64 split;		/* requests that are a part of a larger one, of which more follows */
	u64 waits;		/* times that the core waited although requests did */
	u64 exits;		/* issuers that are gone */
	u64 switches;		/* of the policy */

	struct list_head alive;			/* in the list of all queues */
	u32 last_issuer;
	u32 issuers;				/* threads or processes that issued here and live, as far as rows have room */
	u32 rows[IW_ROWS][IW_ROW];		/* their numbers: exits.c */
};

/* hooks.c: for tests, what is done before a call of the core. */
DECLARE_STATIC_KEY_FALSE(iw_hooked);
int iw_instead(struct iw_queue *iw, const char *function);

/* Whether the core is to be called: 1; or the answer in place of the core's. */
static inline int iw_callable(struct iw_queue *iw, const char *function)
{
	if (static_branch_unlikely(&iw_hooked))
		return iw_instead(iw, function);
	return likely(!iw->broken);
}

/* What a function of the core answers for this queue; 0 if the core has panicked there, now or earlier. With the queue's
 * lock held.
 */
#define iw_core(iw, function, ...)							\
({											\
	int callable = iw_callable(iw, #function);					\
	callable == 1 ? function((iw)->host, ##__VA_ARGS__) : callable;			\
})

/* An elevator that is registered. */
struct iw_elevator {
	struct elevator_type type;
	u32 scheduler;		/* number in the registry; of the hosting one, the count */
	char name[ELV_NAME_MAX];
};

static inline struct iw_queue *iw_of(struct request_queue *q)
{
	return q->elevator->elevator_data;
}

/* The second private word: the id, and in its lowest bits the state. */
#define IW_STATE_BITS 3

static inline u32 iw_id(struct request *rq)
{
	return (unsigned long)rq->elv.priv[1] >> IW_STATE_BITS;
}

static inline enum iw_state iw_state(struct request *rq)
{
	return (unsigned long)rq->elv.priv[1] & ((1 << IW_STATE_BITS) - 1);
}

static inline void iw_set_state(struct request *rq, enum iw_state state)
{
	rq->elv.priv[1] = (void *)((unsigned long)iw_id(rq) << IW_STATE_BITS | state);
}

/* The core does not hold the request any more. */
static inline void iw_leave(struct iw_queue *iw, struct request *rq)
{
	iw->slots[iw_id(rq)].rq = NULL;
	iw_set_state(rq, IW_OUTSIDE);
}

/* The thread or the process that issues now, and the parent of its process; 0 for a worker, whose originator the kernel does
 * not say, and for a thread or process that is about to be gone.
 */
static inline u64 iw_who(const struct iw_queue *iw)
{
	bool by_process = READ_ONCE(iw->by_process);
	u32 group;

	if (current->flags & (PF_WQ_WORKER | PF_EXITING) &&
	    (current->flags & PF_WQ_WORKER || !by_process || !atomic_read(&current->signal->live)))
		return 0;
	rcu_read_lock();
	group = rcu_dereference(current->real_parent)->tgid;
	rcu_read_unlock();
	return (u64)group << 32 | (u32)(by_process ? current->tgid : current->pid);
}

/* Something happened: the core may be asked again, and is, if it held requests back. */
static inline void iw_wake(struct iw_queue *iw)
{
	WRITE_ONCE(iw->held, false);
	if (READ_ONCE(iw->waiting))
		blk_mq_run_hw_queues(iw->q, true);
}

/* elevator.c */
extern const struct elevator_mq_ops iw_ops;

/* panic.c */
void iw_fall_back(struct iw_queue *iw);

/* merge.c */
void iw_parts_start(void);
void iw_describe(struct request *rq, struct iw_request *raw);
void iw_forget(struct iw_queue *iw, struct request *rq);
void iw_unindex(struct iw_queue *iw, struct request *rq);
bool iw_insert_merge(struct iw_queue *iw, struct request *rq, struct list_head *free);
bool iw_allow_merge(struct request_queue *q, struct request *rq, struct bio *bio);
bool iw_bio_merge(struct request_queue *q, struct bio *bio, unsigned int nr_segs);
int iw_request_merge(struct request_queue *q, struct request **req, struct bio *bio);
void iw_request_merged(struct request_queue *q, struct request *rq, enum elv_merge type);
void iw_requests_merged(struct request_queue *q, struct request *rq, struct request *next);
struct request *iw_former_request(struct request_queue *q, struct request *rq);
struct request *iw_next_request(struct request_queue *q, struct request *rq);

/* exits.c */
int iw_exits_start(void);
void iw_exits_stop(void);
void iw_exits_expect(struct iw_queue *iw, u32 who);
void iw_exits_by_process(struct iw_queue *iw, bool by_process);
void iw_exits_watch(struct iw_queue *iw);
void iw_exits_unwatch(struct iw_queue *iw);
struct iw_queue *iw_queue_of(const void *host);

/* policy.c */
/* Why a scheduler takes over: it was written to `policy`, or a selector wants it. */
enum iw_why {
	IW_BY_HAND,
	IW_CHOSEN,
};
int iw_switch(struct iw_queue *iw, u32 number, enum iw_why why);
void iw_carry(struct iw_queue *iw);
void iw_policy_first(struct iw_queue *iw);
ssize_t iw_curve_file_show(struct elevator_queue *e, char *page);
ssize_t iw_curve_file_store(struct elevator_queue *e, const char *page, size_t count);
ssize_t iw_policy_show(struct elevator_queue *e, char *page);
ssize_t iw_policy_store(struct elevator_queue *e, const char *page, size_t count);

/* selector.c */
void iw_policy_begin(struct iw_queue *iw);
void iw_policy_end(struct iw_queue *iw);
int iw_choose(struct iw_queue *iw, u32 number, const char *settings, size_t length);
void iw_choose_no_more(struct iw_queue *iw);
ssize_t iw_auto_file(struct elevator_queue *e, char *page);
ssize_t iw_matrix_show(struct elevator_queue *e, char *page);
ssize_t iw_matrix_store(struct elevator_queue *e, const char *page, size_t count);
ssize_t iw_ranking_show(struct elevator_queue *e, char *page);
ssize_t iw_ranking_store(struct elevator_queue *e, const char *page, size_t count);

/* weights.c */
u32 iw_weight_of(struct iw_queue *iw, u32 issuer);
void iw_weights_exit(struct iw_queue *iw, u32 number);
void iw_weights_free(struct iw_queue *iw);
ssize_t iw_weights_show(struct elevator_queue *e, char *page);
ssize_t iw_weights_store(struct elevator_queue *e, const char *page, size_t count);

/* attributes.c */
struct elv_fs_entry *iw_attributes_new(u32 scheduler);

#endif
