// What strangers send, each with what must hold for every input: a decoder may refuse, but what it
// takes must survive being written and read again.
//
// In memory only; one thread. A broken promise ends the process, as a fuzzer expects.
#pragma once

#include <string_view>

namespace pondage::fuzz {

void Json(std::string_view input);
void Manifests(std::string_view input);
void Protobuf(std::string_view input);
void Quantity(std::string_view input);
void Time(std::string_view input);
void LabelSelector(std::string_view input);
void FieldSelector(std::string_view input);
void TfJob(std::string_view input);
void Pod(std::string_view input);
void Queue(std::string_view input);
void ShimRecord(std::string_view input);
void ModuleMessage(std::string_view input);
void HttpTarget(std::string_view input);
void AcceptHeader(std::string_view input);
void TraceTable(std::string_view input);
void WorkloadYaml(std::string_view input);
void GzipBytes(std::string_view input);

struct Target {
  std::string_view name;  // its corpus is corpus/<name>/
  void (*run)(std::string_view input);
};

inline constexpr Target kTargets[] = {
    {"json", Json},
    {"manifests", Manifests},
    {"protobuf", Protobuf},
    {"quantity", Quantity},
    {"time", Time},
    {"label_selector", LabelSelector},
    {"field_selector", FieldSelector},
    {"tf_job", TfJob},
    {"pod", Pod},
    {"queue", Queue},
    {"shim_record", ShimRecord},
    {"module_message", ModuleMessage},
    {"http_target", HttpTarget},
    {"accept_header", AcceptHeader},
    {"trace_table", TraceTable},
    {"workload_yaml", WorkloadYaml},
    {"gzip_bytes", GzipBytes},
};

}  // namespace pondage::fuzz
