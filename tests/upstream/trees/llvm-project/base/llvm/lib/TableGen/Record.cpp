// SPDX-License-Identifier: GPL-3.0-or-later
#include <fixture_weight.h>
#include <fstream>
#include <llvm/TableGen/Record.h>
#include <string>

int llvm::emitDefinitions(const char *input, const char *output) {
  std::ifstream in(input);
  if (!in)
    return -1;
  std::ofstream out(output);
  std::string word, name;
  int count = 0;
  while (in >> word)
    if (word == "def" && in >> name) {
      out << "inline int " << name << "() { return " << count << "; }\n";
      ++count;
    }
  out << "inline int operationCount() { return " << count << "; }\n";
  return out ? count : -1;
}

double recordWork(const double *values, long count) { return fixture::work<1400>(values, count); }
