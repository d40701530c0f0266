// SPDX-License-Identifier: GPL-2.0-only
/* main() of nearcache-top. */
#include "cli/exec_program.h"
#include "top/top.h"

int main(int argc, char **argv)
{
	return program_main(argc, argv, &top_verb, top_run);
}
