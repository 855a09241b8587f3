// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// resources/errors/catalogue.json, as the build took it in.

namespace tessera::app {

extern const char* const kErrorsText;

}  // namespace tessera::app
