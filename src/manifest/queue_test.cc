#include "manifest/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/object.h"

namespace pondage::manifest {
namespace {

namespace json = boost::json;

using testing::ElementsAre;
using testing::IsSupersetOf;

std::string Json(std::string_view yaml) {
  return json::serialize(ParseManifests(yaml)->at(0));
}

TEST(Queue, IsReadInThousandthsOfAGpu) {
  const auto queue = DecodeQueue(Json(R"(
metadata: {name: nlp}
spec: {parent: lab, display: lab/nlp, guarantee: {nvidia.com/gpu: 1500m}, limit: {nvidia.com/gpu: "4"},
       closed: true, held: true, maxRunSeconds: 60}
)"));
  ASSERT_TRUE(queue) << queue.error().message;
  EXPECT_EQ(*queue, (queue::Spec{.name = "nlp",
                                 .parent = "lab",
                                 .display = "lab/nlp",
                                 .guarantee = {1500},
                                 .limit = base::MilliGpu{4000},
                                 .closed = true,
                                 .held = true,
                                 .max_run = base::Millis{60'000}}));
  EXPECT_EQ(*DecodeQueue(json::serialize(DefaultQueue({}))), (queue::Spec{.name = "default"}));
}

TEST(Queue, ErrorsAreCollected) {
  const auto errors = ValidateQueue(ParseManifests(R"(
metadata: {name: lab/nlp}
spec: {parent: A, guarantee: {nvidia.com/gpu: x, cpu: 1}, limit: {nvidia.com/gpu: 9e18}, maxRunSeconds: 0}
)")
                                        ->at(0));
  std::vector<std::string> paths;
  paths.reserve(errors.size());
  for (const auto& error : errors) paths.push_back(error.path);
  EXPECT_THAT(paths, ElementsAre("metadata.name", "spec.parent", "spec.guarantee.cpu",
                                 "spec.guarantee[nvidia.com/gpu]", "spec.limit[nvidia.com/gpu]",
                                 "spec.maxRunSeconds"));
  EXPECT_TRUE(ValidateQueue(DefaultQueue({})).empty());
  const auto smaller = ValidateQueue(
      ParseManifests("{metadata: {name: a}, spec: {parent: a, guarantee: {nvidia.com/gpu: 2}, "
                     "limit: {nvidia.com/gpu: 1}}}")
          ->at(0));
  ASSERT_EQ(smaller.size(), 2u);
  EXPECT_EQ(smaller[0].message, "Invalid value: \"a\": a queue cannot be its own parent");
  EXPECT_EQ(smaller[1].message,
            "Invalid value: \"1\": must not be less than the guarantee, 2 GPUs");
}

TEST(Queue, StatusIsInQuantities) {
  EXPECT_EQ(json::serialize(QueueStatus({3500}, {1000}, 2, 1)),
            R"({"used":{"nvidia.com/gpu":"3500m"},"borrowed":{"nvidia.com/gpu":"1"},)"
            R"("waiting":2,"running":1})");
}

fleet::Node Sample() {
  return {
      .name = "gpu-1",
      .health = fleet::Health::kReady,
      .cpu = {63'500},
      .memory = {std::int64_t{251} << 30},
      .gpus = {{.id = "GPU-1",
                .type = "NVIDIA A100-SXM4-80GB",
                .memory = {std::int64_t{80} << 30},
                .numa = 0,
                .island = 1},
               {.id = "GPU-2", .type = "NVIDIA A100-SXM4-80GB", .healthy = false, .foreign = true},
               {.id = "virtual-0", .type = "x", .is_virtual = true}},
      .labels = {{"disk", "fast"}}};
}

TEST(Node, WhatIsWrittenIsRead) {
  for (const auto health :
       {fleet::Health::kReady, fleet::Health::kCordoned, fleet::Health::kLost}) {
    fleet::Node node = Sample();
    node.health = health;
    const std::string text =
        json::serialize(MakeNode(node, {"550.1", "12.4", "6.1", "Debian", "127.0.0.1"}, {}));
    const auto back = DecodeNode(text);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_THAT(back->labels, IsSupersetOf(node.labels));
    EXPECT_EQ(back->labels.at("nvidia.com/gpu.product"), "NVIDIA-A100-SXM4-80GB");
    EXPECT_EQ(back->labels.at("kubernetes.io/hostname"), "gpu-1");
    node.labels = back->labels;
    EXPECT_EQ(*back, node);
  }
}

// The machine's own trouble is no cordon: that is for people, and would stay when the disk is free.
TEST(Node, ItsTroubleStopsNewWorkAndPassesByItself) {
  fleet::Node node = Sample();
  node.trouble = "less than 1 MiB are free";
  const json::object made = MakeNode(node, {}, {});
  EXPECT_FALSE(made.at("spec").as_object().contains("unschedulable"));
  const auto back = DecodeNode(json::serialize(made));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->health, fleet::Health::kCordoned);
  EXPECT_EQ(back->trouble, node.trouble);
  const auto later = DecodeNode(json::serialize(MakeNode(Sample(), {}, {})));
  EXPECT_EQ(later->health, fleet::Health::kReady);
}

TEST(Node, OnlyHealthyGpusAreAllocatable) {
  const json::object node = MakeNode(Sample(), {}, {});
  EXPECT_EQ(node.at("status").at("capacity").at("nvidia.com/gpu").get_string(), "3");
  EXPECT_EQ(node.at("status").at("allocatable").at("nvidia.com/gpu").get_string(), "2");
  EXPECT_EQ(node.at("status").at("allocatable").at("cpu").get_string(), "63500m");
}

TEST(Node, WhatIsWrongIsRefused) {
  EXPECT_FALSE(DecodeNode("{}x"));
  EXPECT_FALSE(DecodeNode(R"({"status":{"allocatable":{"cpu":"x"}}})"));
  EXPECT_FALSE(DecodeNode(R"({"metadata":{"annotations":{"pondage.dev/gpus":"[1]"}}})"));
  EXPECT_FALSE(DecodeNode(R"({"metadata":{"annotations":{"pondage.dev/gpus":"["}}})"));
}

TEST(PriorityClass, HasAValue) {
  EXPECT_EQ(DecodePriorityClass(R"({"value":-5})"), -5);
  EXPECT_EQ(DecodePriorityClass("{}"), 0);
  EXPECT_FALSE(DecodePriorityClass(R"({"value":"5"})"));
  EXPECT_FALSE(DecodePriorityClass(R"({"value":2147483648})"));
}

}  // namespace
}  // namespace pondage::manifest
