// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Man pages, made from the option table.

#include <string>
#include <vector>

namespace tessera::app {

struct ManualPage {
  std::string file;  // "tesseractl-job-start.1"
  std::string text;  // roff, man(7)
};

/// tesseractl.1, a page for each verb, and those of the other programs of this build.
std::vector<ManualPage> manualPages();

}  // namespace tessera::app
