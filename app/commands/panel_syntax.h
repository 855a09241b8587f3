// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The options of the panel, tessera. They are here because its man page is made with the others.

#include "app/commands/options.h"

namespace tessera::app {

const Syntax& panelSyntax();

}  // namespace tessera::app
