#include "manifest/protobuf.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/random.h"
#include "manifest/fields.h"
#include "manifest/object.h"

namespace pondage::manifest {
namespace {

namespace json = boost::json;

std::string Bytes(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

struct Sample {
  std::string bytes;  // as a Go client sends it
  json::object json;  // as a Go client writes it in JSON
};

std::vector<Sample> Samples() {
  std::ifstream file(PONDAGE_SOURCE_DIR "/src/manifest/testdata/protobuf.txt");
  std::vector<Sample> samples;
  for (std::string hex, text; std::getline(file, hex) && std::getline(file, text);) {
    samples.push_back({Bytes(hex), ParseJson(text)->get_object()});
  }
  return samples;
}

// Go writes empty objects and nulls where nothing was set; they say nothing.
json::value Bare(const json::value& value) {
  if (const json::array* list = value.if_array()) {
    json::array bare;
    for (const json::value& one : *list) bare.push_back(Bare(one));
    return bare;
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return value;
  json::object bare;
  for (const auto& [key, member] : *object) {
    json::value kept = Bare(member);
    if (kept.is_null() || (kept.is_object() && kept.get_object().empty())) continue;
    bare.emplace(key, std::move(kept));
  }
  return bare;
}

TEST(Protobuf, WhatAGoClientSendsIsItsJson) {
  const auto samples = Samples();
  ASSERT_EQ(samples.size(), 12u);
  for (const Sample& sample : samples) {
    const auto object = DecodeProtobuf(sample.bytes);
    ASSERT_TRUE(object) << sample.json << object.error().message;
    EXPECT_EQ(Bare(*object), Bare(sample.json));
    EXPECT_TRUE(UnknownFields(std::string(sample.json.at("kind").get_string()), *object).empty() ||
                sample.json.at("apiVersion").get_string().starts_with("events"));
  }
}

TEST(Protobuf, KeepsWhatIsEmptyOnPurpose) {
  for (const Sample& sample : Samples()) {
    const auto object = DecodeProtobuf(sample.bytes);
    const auto& kind = sample.json.at("kind").get_string();
    if (kind == "DeleteOptions") {
      EXPECT_EQ(object->at("gracePeriodSeconds"), json::value(0));
    }
    if (kind == "PersistentVolumeClaim") {
      EXPECT_EQ(object->at("spec").at("storageClassName").get_string(), "");
    }
    if (kind == "ConfigMap") {
      EXPECT_EQ(object->at("immutable"), json::value(false));
      EXPECT_EQ(object->at("metadata").at("labels").at("e").get_string(), "");
    }
  }
}

TEST(Protobuf, NoTruncationOrBitFlipHarms) {
  base::Random random(1);
  int read = 0;
  for (const Sample& sample : Samples()) {
    for (std::size_t length = 0; length < sample.bytes.size(); ++length) {
      (void)DecodeProtobuf(sample.bytes.substr(0, length)).has_value();
    }
    EXPECT_FALSE(DecodeProtobuf(sample.bytes.substr(0, sample.bytes.size() - 1)));
    for (int round = 0; round < 2000; ++round) {
      std::string bytes = sample.bytes;
      bytes[random.Below(bytes.size())] ^= static_cast<char>(1 << random.Below(8));
      const auto object = DecodeProtobuf(bytes);
      if (object) {
        ++read;
        EXPECT_TRUE(ParseJson(json::serialize(*object))) << "is JSON whatever the bytes";
      }
    }
  }
  EXPECT_GT(read, 1000);
}

TEST(Protobuf, RefusesWithAReason) {
  struct Row {
    std::string_view says;
    std::string bytes;
    std::string_view message;
  };
  const std::string head("k8s\0", 4);
  const auto envelope = [&head](std::string_view kind, std::string raw) {
    const std::string type =
        "\x12" + std::string(1, static_cast<char>(kind.size())) + std::string(kind);
    return head + "\x0a" + std::string(1, static_cast<char>(type.size())) + type + "\x12" +
           std::string(1, static_cast<char>(raw.size())) + raw;
  };
  const Row kRows[] = {
      {"nothing", "", "the body is not a Kubernetes protobuf message"},
      {"JSON", "{}", "the body is not a Kubernetes protobuf message"},
      {"a broken envelope", head + "\x0a\x7f", "the envelope of the protobuf message is malformed"},
      {"compressed", head + std::string("\x1a\x04gzip"),
       "the envelope of the protobuf message is malformed"},
      {"an unknown kind", envelope("Deployment", ""), "\"Deployment\" has no protobuf form here"},
      {"a custom resource", envelope("TFJob", ""), "\"TFJob\" has no protobuf form here"},
      {"no kind", head, "\"\" has no protobuf form here"},
      {"a length past the end", envelope("Pod", "\x0a\x7f"),
       "the protobuf message of this Pod is malformed"},
      {"a group", envelope("Pod", "\x0b"), "the protobuf message of this Pod is malformed"},
      {"field number 0", envelope("Pod", std::string("\0", 1)),
       "the protobuf message of this Pod is malformed"},
      {"bytes that are no text", envelope("Pod", "\x0a\x03\x0a\x01\xff"),
       "the protobuf message of this Pod is malformed"},
      {"a number for a message", envelope("Pod", "\x08\x01"),
       "the protobuf message of this Pod is malformed"},
      {"a time past all years",
       envelope("Pod", "\x0a\x0d\x42\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x10"),
       "the protobuf message of this Pod is malformed"},
  };
  for (const Row& row : kRows) {
    const auto object = DecodeProtobuf(row.bytes);
    ASSERT_FALSE(object) << row.says;
    EXPECT_EQ(object.error().message, row.message) << row.says;
  }
  EXPECT_TRUE(DecodeProtobuf(head, "Pod")) << "the caller's kind stands in";
}

}  // namespace
}  // namespace pondage::manifest
