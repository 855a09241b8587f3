// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/layout_maker.h"

#include <QPointer>
#include <utility>

#include "engine/catalogue/catalogue.h"
#include "ptc/rules/rules.h"
#include "ui/format.h"

namespace tessera::ui {
namespace {

constexpr int kCatalogueNode = 8;  // GPUs

Result<TensorLayouts::Ptr> makeJob(const engine::vfs::JobInfo& info,
                                   const engine::StepOptions& live,
                                   const std::optional<JobPlace>& now,
                                   const std::optional<JobPlace>& next) {
  ptc::Layout layout = info.layout;
  if (now) {
    TESSERA_TRY(ptc::Layout placed, layoutAt(info, live, *now));
    layout = std::move(placed);
  }
  std::optional<ptc::Layout> after;
  if (next) {
    TESSERA_TRY(ptc::Layout placed, layoutAt(info, live, *next));
    after = std::move(placed);
  }
  return TensorLayouts::make(std::move(layout), std::move(after));
}

Result<TensorLayouts::Ptr> makeModel(const std::string& model, const std::string& mesh) {
  TESSERA_TRY(const ptc::MeshShape shape, ptc::ParseMeshShape(mesh));
  TESSERA_TRY(const ptc::NamedText tensors, engine::FindCatalogueTensors(model));
  TESSERA_TRY(const engine::ModelFacts facts, engine::FactsOf(tensors));
  TESSERA_TRY(const ptc::NamedText rules, engine::FindRuleSet(facts.rules));
  TESSERA_TRY(const ptc::RuledTensors ruled, ptc::ApplyRules(tensors, rules, false));
  constexpr std::int64_t kMostRanks = 16'384;
  if (shape.num_ranks() > kMostRanks) {
    return InvalidArgument("the mesh has " + std::to_string(shape.num_ranks()) +
                           " ranks, the limit is " + std::to_string(kMostRanks));
  }
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(shape.num_ranks()); ++i) {
    devices.push_back({i / kCatalogueNode, i % kCatalogueNode});
  }
  TESSERA_TRY(ptc::DeviceMesh placed, ptc::DeviceMesh::Make(shape, std::move(devices)));
  TESSERA_TRY(ptc::Layout layout,
              ptc::Layout::Make(std::move(placed), ruled.tensors, ruled.stages));
  return TensorLayouts::make(std::move(layout), std::nullopt);
}

}  // namespace

LayoutMaker::LayoutMaker(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(1); }

LayoutMaker::~LayoutMaker() {
  m_pool.clear();
  m_pool.waitForDone();
}

void LayoutMaker::request(const engine::vfs::JobFactsPtr& state, const engine::StepOptions& live,
                          const std::optional<JobPlace>& now, const std::optional<JobPlace>& next) {
  run({{}, {}, state->layout_hash, now, next},
      [state, live, now, next] { return makeJob(state->info, live, now, next); });
}

void LayoutMaker::requestModel(const QString& model, const QString& mesh) {
  run({model, mesh, 0, {}, {}},
      [model = model.toStdString(), mesh = mesh.toStdString()] { return makeModel(model, mesh); });
}

void LayoutMaker::clear() {
  ++m_generation;
  m_key.reset();
  m_busy = false;
  m_problem.clear();
  if (std::exchange(m_layouts, nullptr)) emit changed();
}

void LayoutMaker::run(Key key, std::function<Result<TensorLayouts::Ptr>()> make) {
  if (m_key == key) return;
  m_key = std::move(key);
  m_busy = true;
  m_pool.clear();
  m_pool.start([self = QPointer(this), generation = ++m_generation, make = std::move(make)] {
    Result<TensorLayouts::Ptr> made = make();
    // The destructor waits for the thread, so the maker is still there.
    QMetaObject::invokeMethod(self.data(), [self, generation, made = std::move(made)] {
      if (!self || self->m_generation != generation) return;
      self->m_busy = false;
      self->m_problem = made ? QString() : format::error(made.error());
      self->m_layouts = made ? *made : nullptr;
      emit self->changed();
    });
  });
}

}  // namespace tessera::ui
