// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The text of resources/errors/catalogue.json, embedded by the build.

namespace tessera::app {

extern const char* const kErrorsText;

}  // namespace tessera::app
