// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/panel_syntax.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agents/sim/hardware.h"

namespace tessera::app {

const Syntax& panelSyntax() {
  static const Syntax syntax{
      .verb = "tessera",
      .summary = "Show a cluster in the control panel and move jobs between its GPUs",
      .options =
          {{.name = "connect",
            .value = "PROFILE",
            .help = "name or file of a profile",
            .fallback = "as for tesseractl without --cluster"},
           {.name = "history", .value = "FILE", .help = "show a history file instead of a cluster"},
           {.name = "simulate",
            .value = "NxM",
            .help = "simulate N nodes of M GPUs with a job that trains; the cluster ends with the "
                    "panel"},
           {.name = "hardware",
            .value = "NAME",
            .help =
                fmt::format("with --simulate: {}", fmt::join(agents::sim::HardwareNames(), ", ")),
            .fallback = "demo for up to 16 GPUs, else h100"},
           {.name = "keep",
            .value = "",
            .help =
                "with --simulate: the cluster stays when the panel ends; `tesseractl down` ends "
                "it"},
           {.name = "readonly", .value = "", .help = "stay in Monitor: nothing can be changed"},
           {.name = "operate", .value = "", .help = "start armed instead of in Monitor"},
           {.name = "live",
            .value = "",
            .help = "start in live mode: a drop applies after 3 s; needs --operate"},
           {.name = "theme",
            .value = "",
            .help = "theme of this run",
            .fallback = "as in the settings",
            .choices = {"light", "dark"}},
           {.name = "size",
            .value = "WxH",
            .help = "size of the window in logical pixels",
            .fallback = "the last size, else 1440x900 or what the screen has room for"},
           {.name = "view",
            .value = "",
            .help = "view to show first",
            .fallback = "mesh",
            .choices = {"mesh", "tensors", "links", "data", "files"}},
           {.name = "lesson",
            .value = "LESSON",
            .help = "open a lesson: a name of `tesseractl lesson list`, or a file"},
           {.name = "step", .value = "N", .help = "step of the lesson", .fallback = "1"},
           {.name = "screenshot",
            .value = "FILE",
            .help =
                "save a PNG when the first snapshot of the cluster is drawn, after 10 s at most"},
           {.name = "quit", .value = "", .help = "quit after the screenshot"},
           {.name = "play",
            .value = "STEPS",
            .help = "play a scenario without a user: grow,shrink,lose; implies --operate and "
                    "--live"},
           {.name = "screenshots",
            .value = "DIR",
            .help = "folder for the screenshots and the report of --play",
            .fallback = "the working folder"},
           {.name = "frames",
            .value = "MS",
            .help = "with --play: save the window every MS milliseconds, in DIR/frames; up to 300 "
                    "times"},
           {.name = "print-geometry",
            .value = "",
            .help =
                "print the screen positions of cells and buttons as JSON, a line for each change"},
           {.name = "log-gaps",
            .value = "MS",
            .help = "print on stderr when the window does not react for longer than this"},
           {.name = "startup-trace",
            .value = "",
            .help = "print to stderr how many milliseconds each part of the start took"},
           {.name = "help", .value = "", .help = "print this help", .letter = 'h'},
           {.name = "version", .value = "", .help = "print the version"}},
      .notes = {"TESSERA_HOME holds profiles, keys, history and panel.ini, the panel's settings."},
      .examples = {"tessera --connect local --operate", "tessera --history history.sqlite",
                   "tessera --simulate 16x8"},
      .isVerb = false};
  return syntax;
}

}  // namespace tessera::app
