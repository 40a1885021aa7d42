#include <fmt/core.h>

#include "client/apply.h"
#include "client/kube.h"
#include "client/manifest_file.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/trouble.h"

namespace pondage::cmd {
using base::Kind;

base::Result<int> RerunMain(Context& context) {
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  const std::string& old = context.line().words[0];
  TRY(const json::value object, client->Get(client::TfJobPath(space, old)));
  json::object again{{"apiVersion", "kubeflow.org/v1"},
                     {"kind", "TFJob"},
                     {"spec", *client::Find(object, {"spec"})}};
  json::object metadata{{"namespace", space}};
  json::object annotations = client::Members(object, {"metadata", "annotations"});
  annotations.erase(client::kLastApplied);
  annotations.erase("pondage.dev/idempotency-key");
  annotations["pondage.dev/rerun-of"] = old;
  metadata["annotations"] = std::move(annotations);
  if (const auto& labels = client::Members(object, {"metadata", "labels"}); !labels.empty())
    metadata["labels"] = labels;
  if (json::value* policy = again["spec"].as_object().if_contains("runPolicy");
      policy != nullptr && policy->is_object()) {
    policy->as_object()["suspend"] = false;
  }
  const std::string stem = client::NumberlessStem(old);
  TRY(const auto present, client::ListAll(*client, client::TfJobPath(space)));
  std::string name = context.line().Value("name");
  const bool chosen = !name.empty();
  if (!chosen) name = client::NextName(stem, present);
  for (int attempt = 0;; ++attempt) {
    metadata["name"] = name;
    again["metadata"] = metadata;
    auto made = client->Post(client::TfJobPath(space), again);
    if (made) break;
    if (chosen || made.error().kind != Kind::kAlreadyExists || attempt > 20)
      return std::unexpected(made.error());
    name = fmt::format("{}-{}", stem, client::NumberOf(name) + 1);
  }
  context.NoteWarnings();
  context.Print(name + "\n");
  context.Note(fmt::format(fmt::runtime(context.screen().Pick("now: pondage logs -f {}\n",
                                                              "接下来: pondage logs -f {}\n")),
                           name));
  return terminal::kDone;
}

}  // namespace pondage::cmd
