# Where a sanitizer's code lies in a program: between its exported functions. What the program may define itself, and
# data of such a name, are outside.
.text
.globl __asan_default_options
.type __asan_default_options, @function
__asan_default_options:
	ret
.size __asan_default_options, .-__asan_default_options
.globl __asan_init
.type __asan_init, @function
__asan_init:
	nop
	ret
.size __asan_init, .-__asan_init
	nop
.globl __sanitizer_set_report_path
.type __sanitizer_set_report_path, @function
__sanitizer_set_report_path:
	nop
	nop
	ret
.size __sanitizer_set_report_path, .-__sanitizer_set_report_path
.globl program
.type program, @function
program:
	ret
.size program, .-program
.data
.globl __asan_number
.type __asan_number, @object
__asan_number:
	.quad 5
.size __asan_number, 8
.section .note.GNU-stack, "", @progbits
