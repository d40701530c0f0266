// SPDX-License-Identifier: GPL-2.0-only
/* main() of the daemon, nearcached. */
#include "cli/exec_program.h"
#include "daemon/daemon.h"

int main(int argc, char **argv)
{
	return program_main(argc, argv, &daemon_verb, daemon_run);
}
