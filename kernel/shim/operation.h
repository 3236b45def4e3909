/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's operations as the Rust halves have them, for both modules. To be included after core.h or model.h. */
#ifndef IW_OPERATION_H
#define IW_OPERATION_H

#include <linux/blk_types.h>

static inline iw_operation iw_operation_of(enum req_op op)
{
	switch (op) {
	case REQ_OP_READ:
		return IW_OPERATION_READ;
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
		return IW_OPERATION_DISCARD;
	case REQ_OP_FLUSH:
		return IW_OPERATION_FLUSH;
	default:
		return IW_OPERATION_WRITE;
	}
}

#endif
