// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The texts of resources/errors/catalogue.json and catalogue.de.json, embedded by the build.

namespace tessera::app {

extern const char* const kErrorsText;
extern const char* const kGermanErrorsText;

}  // namespace tessera::app
