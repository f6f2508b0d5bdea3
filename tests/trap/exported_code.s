# Functions without an entry in the unwind tables, as assembly has them, and names that are none of a function.
.text
.globl first
.type first, @function
first:
	nop
	nop
	ret
.size first, .-first
.globl second
.type second, @function
second:
	nop
	ret
.size second, .-second
# A second name of it, and one that is inside of it.
.globl again
.type again, @function
.set again, second
.size again, 2
.globl inside
.type inside, @function
.set inside, second + 1
.size inside, 1
# Code without a type or a size: entered perhaps, and no function.
.globl label
label:
	nop
	ret
.globl sizeless
.type sizeless, @function
sizeless:
	ret
# With an entry of its own in the tables, which begins earlier than its name says.
.globl told
.type told, @function
	.cfi_startproc
	nop
told:
	nop
	ret
	.cfi_endproc
.size told, .-told
.type hidden, @function
hidden:
	ret
.size hidden, .-hidden
.data
.globl number
.type number, @object
number:
	.quad 5
.size number, 8
# A function, it says, where no code can be.
.globl wrong
.type wrong, @function
wrong:
	.quad 0
.size wrong, 8
.section .note.GNU-stack, "", @progbits
