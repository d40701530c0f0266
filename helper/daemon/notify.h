/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What systemd is told of the daemon.  libsystemd, and the five libraries that it brings, are loaded
 * when there is somebody to tell: no other command needs them.
 */
#ifndef HELPER_DAEMON_NOTIFY_H
#define HELPER_DAEMON_NOTIFY_H

void notify(const char *state);

#endif /* HELPER_DAEMON_NOTIFY_H */
