#include "view/redact.h"

#include <gtest/gtest.h>

namespace pondage::view {
namespace {

TEST(Redact, SecretsAreGoneAndTheRestStays) {
  const json::value value = json::parse(
      R"({"kind":"List","items":[{"kind":"Secret","data":{"p":"cGFzcw=="},"type":"Opaque"}],
    "spec":{"env":[{"name":"WANDB_API_KEY","value":"abc"},{"name":"TF_CONFIG","value":"{}"}],"token":"t","secretName":"s",
    "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{secret}","pondage.dev/idempotency-key":"k"},"command":["python"]}})");
  const std::string text = json::serialize(Redacted(value));
  for (const char* gone : {"cGFzcw", "abc", "\"t\"", "{secret}"})
    EXPECT_EQ(text.find(gone), std::string::npos) << gone;
  for (const char* kept : {"WANDB_API_KEY", R"("value":"{}")", R"("secretName":"s")", "python",
                           "Opaque", "idempotency-key\":\"k"}) {
    EXPECT_NE(text.find(kept), std::string::npos) << kept << " in " << text;
  }
}

}  // namespace
}  // namespace pondage::view
