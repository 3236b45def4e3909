/* SPDX-License-Identifier: GPL-2.0 */
/* How C calls Rust, and how a panic comes back. Part of the assembly that each Rust half becomes.
 *
 * Each function of the Rust half that C calls stands behind a guard of the same name. The guard keeps the registers that
 * are C's, the first argument and a mark on the stack. A panic looks for the innermost mark, lets C say what happened, and
 * leaves as if the function had returned 0. Nothing of the frames between is run or freed: what the first
 * argument points to must not be used again, and C sees to that.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/ibt.h>

/* Linux 6.1 has no word for the place before a function. */
#ifndef SYM_F_ALIGN
#define SYM_F_ALIGN ALIGN
#endif

/* The mark lies at the address that it names, plus this: odd, so that no pointer on the stack is one. */
#define GUARD_MARK 0x1d1e5afd

/* A function that is called as \name, and is \name.inside. The mark goes away with the call, since memory of the stack is
 * used again. Arguments are in registers, so there are six at most.
 */
.macro GUARD name
SYM_FUNC_START(\name)
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushq	%rdi
	leaq	(GUARD_MARK - 8)(%rsp), %rax
	pushq	%rax
	call	\name\().inside
	movq	$0, (%rsp)
	addq	$16, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	RET
SYM_FUNC_END(\name)
.endm

	.text

/* void iw_escape(const char *text, size_t length): the end of a panic. Does not return. */
SYM_FUNC_START(iw_escape)
	pushq	%rbx
	movq	%rsp, %rbx
1:	addq	$8, %rbx
	leaq	GUARD_MARK(%rbx), %rax
	cmpq	%rax, (%rbx)
	jne	1b
	movq	8(%rbx), %rdx
	call	iw_panicked
	leaq	-8(%rbx), %rdi
	call	iw_leap
	popq	%rbx
	RET
SYM_FUNC_END(iw_escape)

/* Returns 0 to the guard, whose call left its return address there. */
SYM_FUNC_START_LOCAL(iw_leap)
	movq	%rdi, %rsp
	xorl	%eax, %eax
	RET
SYM_FUNC_END(iw_leap)
STACK_FRAME_NON_STANDARD iw_leap
