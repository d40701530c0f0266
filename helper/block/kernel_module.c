// SPDX-License-Identifier: GPL-2.0-only
#include "block/kernel_module.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Run modprobe. @output: for its messages. */
static int run_modprobe(const char *const *words, int output)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		setenv("LC_ALL", "C", 1);
		dup2(output, STDERR_FILENO);
		execvp(words[0], (char *const *)words);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	return status;
}

/*
 * Load a kernel module with modprobe. Nothing happens if the kernel has it already. Does not tell
 * whether it failed: the caller checks whether the kernel has what the module provides.
 */
void kernel_module_load(const char *name)
{
	const char *const words[] = { "modprobe", "-q", name, NULL };
	int output = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* Drop modprobe's messages: the caller has its own. */
	run_modprobe(words, output);
	if (output >= 0)
		close(output);
}

/* Get why modprobe cannot load a module, in its words. Returns false if it can, or does not say. */
bool kernel_module_error(const char *name, char *text, size_t size)
{
	const char *const words[] = { "modprobe", name, NULL };
	FILE *file = tmpfile();
	bool told = file && run_modprobe(words, fileno(file));

	if (told) {
		rewind(file);
		told = fgets(text, (int)size, file) && *text != '\n';
	}
	if (told)
		text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	return told;
}

/* Did the kernel refuse a module because of its signature? @text: see kernel_module_error(). */
bool kernel_module_is_unsigned(const char *text)
{
	char lockdown[64] = "";
	FILE *file;

	if (strstr(text, "Key was rejected by service") ||
	    strstr(text, "Required key not available"))
		return true;
	if (!strstr(text, "Operation not permitted"))
		return false;
	file = fopen("/sys/kernel/security/lockdown", "re");
	if (file && !fgets(lockdown, sizeof(lockdown), file))
		*lockdown = '\0';
	if (file)
		fclose(file);
	return *lockdown && !strstr(lockdown, "[none]");
}
