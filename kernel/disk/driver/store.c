// SPDX-License-Identifier: GPL-2.0
/* Pages are added as they are first written with anything but zeroes, and freed when a whole page is discarded or
 * overwritten with zeroes. So a large file of zeroes needs no memory. A request that finds
 * no memory is given back to the block layer, which tries again.
 */
#include <linux/highmem.h>
#include <linux/slab.h>

#include "store.h"

#define PAGE_SECTORS_SHIFT (PAGE_SHIFT - SECTOR_SHIFT)

void iwd_store_init(struct iwd_store *store)
{
	spin_lock_init(&store->lock);
	xa_init(&store->pages);
}

void iwd_store_empty(struct iwd_store *store)
{
	unsigned long number;
	struct page *page;

	xa_for_each(&store->pages, number, page) {
		__free_page(page);
		cond_resched();
	}
	xa_destroy(&store->pages);
}

/* The page of that number, new if there was none. */
static struct page *iwd_page(struct iwd_store *store, unsigned long number)
{
	struct page *page = xa_load(&store->pages, number);

	if (page)
		return page;
	page = alloc_page(GFP_NOWAIT | __GFP_NOWARN | __GFP_ZERO);
	if (page && xa_err(xa_store(&store->pages, number, page, GFP_NOWAIT | __GFP_NOWARN))) {
		__free_page(page);
		return NULL;
	}
	return page;
}

/* Pages that are given back before others may have the lock: some tens of microseconds. */
#define IWD_BATCH 256

static void iwd_drop(struct iwd_store *store, unsigned long number)
{
	struct page *page = xa_erase(&store->pages, number);

	if (page)
		__free_page(page);
}

static bool iwd_zeroes(struct page *data, unsigned int offset)
{
	void *start = kmap_local_page(data) + offset;
	bool zeroes = !memchr_inv(start, 0, PAGE_SIZE);

	kunmap_local(start);
	return zeroes;
}

/* A piece of a request that lies in one page of the disk. */
static bool iwd_copy(struct iwd_store *store, u64 at, struct page *data, unsigned int offset,
		     unsigned int length, bool write)
{
	unsigned int inside = offset_in_page(at);
	struct page *page;

	if (write) {
		if (length == PAGE_SIZE && iwd_zeroes(data, offset)) {
			iwd_drop(store, at >> PAGE_SHIFT);
			return true;
		}
		page = iwd_page(store, at >> PAGE_SHIFT);
		if (!page)
			return false;
		memcpy_page(page, inside, data, offset, length);
		return true;
	}
	page = xa_load(&store->pages, at >> PAGE_SHIFT);
	if (page)
		memcpy_page(data, offset, page, inside, length);
	else
		memzero_page(data, offset, length);
	return true;
}

static blk_status_t iwd_move(struct iwd_store *store, struct request *rq)
{
	u64 at = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	bool write = op_is_write(req_op(rq));
	struct req_iterator iter;
	struct bio_vec vec;

	rq_for_each_segment(vec, rq, iter) {
		unsigned int done = 0, length;

		for (; done < vec.bv_len; done += length, at += length) {
			length = min_t(unsigned int, vec.bv_len - done, PAGE_SIZE - offset_in_page(at));
			if (!iwd_copy(store, at, vec.bv_page, vec.bv_offset + done, length, write))
				return BLK_STS_RESOURCE;
		}
	}
	return BLK_STS_OK;
}

/* Only pages that are there are looked at: most of a large disk is not. */
static void iwd_discard(struct iwd_store *store, struct request *rq)
{
	u64 at = (u64)blk_rq_pos(rq) << SECTOR_SHIFT, end = at + blk_rq_bytes(rq);
	unsigned long number;
	struct page *page;
	u32 dropped = 0;

	if (at == end)
		return;
	xa_for_each_range(&store->pages, number, page, at >> PAGE_SHIFT, (end - 1) >> PAGE_SHIFT) {
		u64 first = max(at, (u64)number << PAGE_SHIFT), last = min(end, (u64)(number + 1) << PAGE_SHIFT);

		if (last - first < PAGE_SIZE) {
			memzero_page(page, offset_in_page(first), last - first);
			continue;
		}
		iwd_drop(store, number);
		if (++dropped % IWD_BATCH == 0) {
			spin_unlock(&store->lock);
			cpu_relax();
			spin_lock(&store->lock);
		}
	}
}

blk_status_t iwd_store_serve(struct iwd_store *store, struct request *rq)
{
	blk_status_t status = BLK_STS_OK;

	spin_lock(&store->lock);
	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		status = iwd_move(store, rq);
		break;
	case REQ_OP_DISCARD:
		iwd_discard(store, rq);
		break;
	case REQ_OP_FLUSH:
		break;
	default:
		status = BLK_STS_NOTSUPP;
	}
	spin_unlock(&store->lock);
	return status;
}
