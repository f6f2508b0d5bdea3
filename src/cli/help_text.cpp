#include "cli/help_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/caveats.h"

namespace blackout::cli {

namespace {

constexpr std::string_view kPurpose = "finds crash-consistency bugs in programs that use persistent memory";
constexpr std::size_t kWidth = 96;
constexpr std::size_t kIndent = 26;

constexpr std::string_view kExitCodes =
    "0   clean and complete\n"
    "1   findings\n"
    "2   wrong usage or unusable input\n"
    "3   inconclusive: something was not seen or not explored, and the report says what\n"
    "70  internal error\n";

// Breaks the text into lines of at most `width` characters; existing line breaks stay.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::string word;
  auto endWord = [&] {
    if (word.empty()) return;
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.push_back(line);
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    word.clear();
  };
  for (char c : text) {
    if (c == ' ') {
      endWord();
    } else if (c == '\n') {
      endWord();
      lines.push_back(line);
      line.clear();
    } else {
      word += c;
    }
  }
  endWord();
  if (!line.empty()) lines.push_back(line);
  return lines;
}

struct OptionText {
  std::string head;
  std::string description;
  bool positional = false;
};

std::vector<OptionText> optionTexts(const CLI::App& app) {
  std::vector<OptionText> texts;
  for (const CLI::Option* o : app.get_options()) {
    bool positional = o->get_positional();
    std::string head;
    if (positional) {
      head = o->get_name(true);
    } else {
      head = o->get_name(false, true);
      for (std::size_t at = 0; (at = head.find(',', at)) != std::string::npos; at += 2) head.insert(at + 1, " ");
      if (o->get_type_size() != 0 && !o->get_type_name().empty()) head += " " + o->get_type_name();
    }
    texts.push_back({head, o->get_description(), positional});
  }
  // The help option is declared first but is what one looks for last.
  auto help = std::find_if(texts.begin(), texts.end(), [](const OptionText& t) { return t.head == "-h, --help"; });
  if (help != texts.end()) std::rotate(help, help + 1, texts.end());
  return texts;
}

void appendOptions(std::string& out, const std::vector<OptionText>& texts) {
  for (const OptionText& t : texts) {
    std::string head = "  " + t.head;
    std::vector<std::string> lines = wrapped(t.description, kWidth - kIndent);
    std::size_t first = 0;
    if (head.size() + 2 <= kIndent && !lines.empty()) {
      out += fmt::format("{:<{}}{}\n", head, kIndent, lines[0]);
      first = 1;
    } else {
      out += head + "\n";
    }
    for (std::size_t i = first; i < lines.size(); ++i) out += std::string(kIndent, ' ') + lines[i] + "\n";
  }
}

// scdoc takes some characters as markup, and others where they begin a line.
std::string scdoc(std::string_view text) {
  constexpr std::string_view markup = "_*+\\#[<~";
  constexpr std::string_view atBegin = "-.|!`\t";
  std::string out;
  for (char c : text) {
    bool special =
        markup.find(c) != std::string_view::npos || (out.empty() && atBegin.find(c) != std::string_view::npos);
    if (special) out += '\\';
    out += c;
  }
  return out;
}

std::size_t editDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> optionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& l : o->get_lnames()) names.push_back("--" + l);
    for (const std::string& s : o->get_snames()) names.push_back("-" + s);
  }
  return names;
}

std::string nearest(const std::string& typed, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t bestDistance = std::max<std::size_t>(2, typed.size() / 3) + 1;
  for (const std::string& c : candidates) {
    std::size_t d = editDistance(typed, c);
    if (d < bestDistance) {
      bestDistance = d;
      best = c;
    }
  }
  return best;
}

std::string overviewText() {
  std::string out = fmt::format("blackout {}: {}.\n\n", BLACKOUT_VERSION, kPurpose);
  out +=
      "Usage: blackout check --pm POOL -- PROGRAM [ARGS]\n"
      "       blackout COMMAND [OPTIONS]\n\n"
      "Commands:\n";
  std::size_t widest = 0;
  for (const Subcommand* s : subcommands()) widest = std::max(widest, s->name.size());
  for (const Subcommand* s : subcommands()) out += fmt::format("  {:<{}}{}\n", s->name, widest + 2, s->summary);
  out += "\nOptions:\n  -h, --help              print this text\n  --version               print the version\n";
  out += "\nExit codes:\n";
  for (const std::string& line : wrapped(std::string(kExitCodes), std::string::npos)) out += "  " + line + "\n";
  out += "\n'blackout help COMMAND' says more about a command.\n";
  return out;
}

std::string helpText(const Subcommand& subcommand) {
  Declared declared = declare(subcommand);
  std::string out = fmt::format("blackout {}: {}.\n\n", subcommand.name, subcommand.summary);
  std::string_view head = "Usage: ";
  for (const std::string& line : wrapped(subcommand.synopsis, std::string::npos)) {
    out += fmt::format("{}{}\n", head, line);
    head = "       ";
  }
  std::vector<OptionText> texts = optionTexts(*declared.app);
  for (bool positional : {true, false}) {
    std::vector<OptionText> part;
    for (const OptionText& t : texts)
      if (t.positional == positional) part.push_back(t);
    if (part.empty()) continue;
    out += positional ? "\nArguments:\n" : "\nOptions:\n";
    appendOptions(out, part);
  }
  if (!subcommand.details.empty()) {
    out += "\n";
    for (const std::string& line : wrapped(subcommand.details, kWidth)) out += line + "\n";
  }
  return out;
}

std::string manText(const Subcommand* subcommand) {
  std::string name = subcommand == nullptr ? "blackout" : "blackout-" + subcommand->name;
  std::string out = fmt::format("{}(1)\n\n# NAME\n\n{} - {}\n\n# SYNOPSIS\n\n", name, name,
                                scdoc(subcommand == nullptr ? std::string(kPurpose) : subcommand->summary));
  if (subcommand == nullptr) {
    out += "*blackout* COMMAND \\[OPTIONS]\n\n# COMMANDS\n\n";
    for (const Subcommand* s : subcommands())
      out += fmt::format("*{}*\n\t{}. See *blackout-{}*(1).\n\n", s->name, scdoc(s->summary), s->name);
  } else {
    for (const std::string& line : wrapped(subcommand->synopsis, std::string::npos)) out += scdoc(line) + "++\n";
    out.erase(out.size() - 3);
    out += "\n\n# OPTIONS\n\n";
    Declared declared = declare(*subcommand);
    for (const OptionText& t : optionTexts(*declared.app)) {
      out += fmt::format("*{}*\n", scdoc(t.head));
      for (const std::string& line : wrapped(t.description, 70)) out += "\t" + scdoc(line) + "\n";
      out += "\n";
    }
    if (!subcommand->details.empty()) {
      out += "# DESCRIPTION\n\n";
      for (const std::string& line : wrapped(subcommand->details, 76)) out += scdoc(line) + "\n";
      out += "\n";
    }
  }
  out += "# EXIT STATUS\n\n";
  for (const std::string& line : wrapped(std::string(kExitCodes), std::string::npos)) {
    std::size_t space = line.find(' ');
    out += fmt::format("*{}*\n\t{}\n\n", line.substr(0, space), scdoc(line.substr(line.find_first_not_of(' ', space))));
  }
  return out;
}

std::string kindText(const FindingKindRow& row) {
  std::string out = fmt::format("{}: {} ({}).\n\n", row.name, row.title, nameOf(row.severity));
  for (const std::string& line : wrapped(std::string(row.meaning), kWidth)) out += line + "\n";
  out += "\n";
  for (const std::string& line : wrapped("What to do: " + std::string(row.hint) + ".", kWidth)) out += line + "\n";
  return out;
}

std::string limitsText() {
  std::string out = "What no result of Blackout speaks of; what else is true of a run is in its report.\n\n";
  for (const std::string& limit : limitsOfEveryResult()) {
    std::string_view head = "  - ";
    for (const std::string& line : wrapped(limit, kWidth - 4)) {
      out += fmt::format("{}{}\n", head, line);
      head = "    ";
    }
  }
  return out;
}

}  // namespace blackout::cli
