// A refusal as a sentence for people, in either language.
//
// Pure. The words stand in the message catalogue (room `phrase`); this names the numbers for them.
#pragma once

#include <functional>
#include <string>

#include "phrase/phrase.h"
#include "plan/plan.h"

namespace pondage::plan {

// What a job is called where the sentence is read.
using NameOf = std::function<std::string(base::JobId)>;

// The values of the refusal's sentence: need have missing limit used block block_need single where
// what present until ahead ahead_count holders. Cores and memory come with their unit; times in
// UTC.
phrase::Values Facts(const Refusal& refusal, const NameOf& name_of);

std::string Sentence(const Refusal& refusal, phrase::Language language, const NameOf& name_of);

}  // namespace pondage::plan
