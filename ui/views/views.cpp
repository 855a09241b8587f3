// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/views.h"

#include "ui/views/data_page.h"
#include "ui/views/files_page.h"
#include "ui/views/links_view.h"
#include "ui/views/mesh_page.h"
#include "ui/views/tensors_view.h"

namespace tessera::ui {

std::vector<View*> makeViews(const ViewContext& context, QWidget* parent) {
  return {
      new MeshPage(context, parent),  new TensorsView(context, parent),
      new LinksView(context, parent), new DataPage(context, parent),
      new FilesPage(context, parent),
  };
}

}  // namespace tessera::ui
