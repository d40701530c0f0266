// SPDX-License-Identifier: GPL-2.0-only
/* Log lines of the daemon, and its actions, which it does, records and logs. */
#include "daemon/watched.h"

#include <stdio.h>
#include <systemd/sd-daemon.h>

#include "daemon/change_setting.h"
#include "lib/error.h"
#include "lib/sanitize.h"

void daemon_say(const struct daemon *daemon, const char *level, const char *text)
{
	fprintf(stderr, "%s%s\n", daemon->prefix ? level : "", text);
}

/* Log the error that fail() recorded, if any, and clear it, so that the daemon continues. */
void daemon_say_failure(const struct daemon *daemon)
{
	char text[2200];

	if (!fail_code())
		return;
	snprintf(text, sizeof(text), "%s", fail_message());
	daemon_say(daemon, SD_WARNING, text_clean(text));
	fail_reset();
}

/* Append @action to ACTIONS_FILE and log it.  If it cannot be appended, log only the error. */
void daemon_record(struct daemon *daemon, struct action *action)
{
	char text[640], from[KNOB_TEXT], to[KNOB_TEXT];

	if (action_add(action)) {
		daemon_say_failure(daemon);
		return;
	}
	snprintf(text, sizeof(text), "%s%s%s %s -> %s: %s (action %llu, %s)",
		 action->device, *action->device ? ": " : "", action->setting,
		 knob_print(action->setting, action->from, from),
		 knob_print(action->setting, action->to, to), action->why,
		 (unsigned long long)action->id, action->state);
	daemon_say(daemon, SD_NOTICE, text_clean(text));
}

/* Do @action and record it; with --observe only record it.  Returns false if doing it failed. */
bool daemon_act(struct daemon *daemon, struct action *action, const char *state)
{
	snprintf(action->state, sizeof(action->state), "%s",
		 daemon->observe ? "would" : state);
	if (!daemon->observe &&
	    knob_set(action->setting, action->device, action->to)) {
		daemon_say_failure(daemon);
		return false;
	}
	daemon_record(daemon, action);
	return true;
}
