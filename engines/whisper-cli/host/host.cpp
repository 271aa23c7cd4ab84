// Keeps a whisper model loaded and transcribes one recording at a time. JSON lines (engines/contract/resident.ts):
//   stdin   {"id":1,"wavPath":PATH,"startMs":0,"endMs":2000,"language":"auto","threads":2,"words":false,
//            "prompt":"","carriesPrompt":false,"translate":false,"temperature":0,"audioContext":0}
//           {"cancel":1}
//   stdout  {"ready":true}, then for each id {"id":1,"segment":{...}} as soon as it is known, and one of
//           {"id":1,"done":{"language":"en","translated":false}}, {"id":1,"error":"..."}
// Ends when stdin closes, and with code 5 for an invalid line. The search is whisper-cli's: beam 5, best of 5.
#include "ggml-backend.h"
#include "json.hpp"
#include "whisper.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <unistd.h>
#include <vector>

using json = nlohmann::json;

namespace {

void send(const json & message) {
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    const std::string line = message.dump() + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

// Whisper may cut a character between tokens: each byte becomes a separate character (Latin-1), so that none is lost.
std::string as_latin1(const char * bytes) {
    std::string text;
    for (const char * at = bytes; *at != '\0'; ++at) {
        const auto byte = static_cast<unsigned char>(*at);
        if (byte < 0x80) {
            text += static_cast<char>(byte);
        } else {
            text += static_cast<char>(0xc0 | (byte >> 6));
            text += static_cast<char>(0x80 | (byte & 0x3f));
        }
    }
    return text;
}

json milliseconds(int64_t from, int64_t to) {
    return {{"from", from * 10}, {"to", to * 10}};
}

struct Job {
    int id;
    bool words;
    std::atomic<bool> cancelled{false};
};

json segment_at(whisper_context * context, whisper_state * state, int index, bool words) {
    json segment = {
        {"text", as_latin1(whisper_full_get_segment_text_from_state(state, index))},
        {"offsets", milliseconds(whisper_full_get_segment_t0_from_state(state, index),
                                 whisper_full_get_segment_t1_from_state(state, index))},
    };
    if (!words) return segment;
    segment["tokens"] = json::array();
    for (int at = 0; at < whisper_full_n_tokens_from_state(state, index); ++at) {
        const whisper_token_data data = whisper_full_get_token_data_from_state(state, index, at);
        json token = {{"text", as_latin1(whisper_token_to_str(context, data.id))}};
        if (data.t0 > -1 && data.t1 > -1) token["offsets"] = milliseconds(data.t0, data.t1);
        segment["tokens"].push_back(token);
    }
    return segment;
}

void on_segments(whisper_context * context, whisper_state * state, int count, void * data) {
    const Job & job = *static_cast<Job *>(data);
    const int total = whisper_full_n_segments_from_state(state);
    for (int index = total - count; index < total; ++index) {
        if (!job.cancelled) send({{"id", job.id}, {"segment", segment_at(context, state, index, job.words)}});
    }
}

// The service has written the file: 16 kHz, mono, 16 bits, with a header of 44 bytes. It may end less than 1 ms before endMs.
bool read_samples(const json & question, std::vector<float> & samples) {
    const auto start_ms = question.at("startMs").get<uint32_t>();
    const auto end_ms = question.at("endMs").get<uint32_t>();
    std::ifstream file(question.at("wavPath").get<std::string>(), std::ios::binary);
    char header[44];
    if (end_ms <= start_ms || !file.read(header, sizeof(header)) || std::memcmp(header, "RIFF", 4) != 0) return false;
    if (start_ms > 0) file.seekg(std::streamoff(32) * start_ms, std::ios::cur);
    std::vector<int16_t> sound(size_t(16) * (end_ms - start_ms));
    file.read(reinterpret_cast<char *>(sound.data()), 2 * sound.size());
    sound.resize(file.gcount() / 2);
    samples.resize(sound.size());
    std::transform(sound.begin(), sound.end(), samples.begin(), [](int16_t sample) { return sample / 32768.0f; });
    return !samples.empty();
}

// Returns the most likely of these languages in the first 30 s; "auto" if there are none.
std::string detect_language(whisper_context * context, whisper_state * state, const std::vector<float> & samples, const json & question) {
    const auto languages = question.value("languages", std::vector<std::string>());
    const int threads = question.value("threads", 1);
    if (languages.empty() || whisper_pcm_to_mel_with_state(context, state, samples.data(), static_cast<int>(samples.size()), threads) != 0) return "auto";
    std::vector<float> probabilities(whisper_lang_max_id() + 1);
    if (whisper_lang_auto_detect_with_state(context, state, 0, threads, probabilities.data()) < 0) return "auto";
    const auto likelihood = [&](const std::string & language) { return probabilities.at(whisper_lang_id(language.c_str())); };
    return *std::max_element(languages.begin(), languages.end(), [&](const std::string & a, const std::string & b) { return likelihood(a) < likelihood(b); });
}

json transcribe(whisper_context * context, const json & question, Job & job) {
    std::string language = whisper_is_multilingual(context) ? question.value("language", "auto") : "en";
    const std::string prompt = question.value("prompt", "");
    if (language != "auto" && whisper_lang_id(language.c_str()) < 0) return {{"error", "unknown language"}};
    std::vector<float> samples;
    if (!read_samples(question, samples)) return {{"error", "cannot read the recording"}};
    // Beam search uses random numbers that only a new state seeds. A new state also keeps nothing of an earlier recording.
    const std::unique_ptr<whisper_state, decltype(&whisper_free_state)> state(whisper_init_state(context), whisper_free_state);
    if (!state) return {{"error", "out of memory"}};
    if (language == "auto") language = detect_language(context, state.get(), samples, question);

    whisper_full_params params = whisper_full_default_params(WHISPER_SAMPLING_GREEDY);
    params.strategy = WHISPER_SAMPLING_BEAM_SEARCH;
    params.greedy.best_of = whisper_full_default_params(WHISPER_SAMPLING_GREEDY).greedy.best_of;
    params.beam_search.beam_size = whisper_full_default_params(WHISPER_SAMPLING_BEAM_SEARCH).beam_search.beam_size;
    params.print_progress = false;
    params.print_realtime = false;
    params.print_timestamps = false;
    params.language = language.c_str();
    params.n_threads = question.value("threads", 1);
    params.token_timestamps = job.words;
    params.initial_prompt = prompt.c_str();
    params.carry_initial_prompt = question.value("carriesPrompt", false);
    params.translate = question.value("translate", false);
    params.temperature = question.value("temperature", 0.0f);
    params.audio_ctx = question.value("audioContext", 0);
    params.new_segment_callback = on_segments;
    params.new_segment_callback_user_data = &job;
    params.abort_callback = [](void * data) { return static_cast<Job *>(data)->cancelled.load(); };
    params.abort_callback_user_data = &job;
    params.encoder_begin_callback = [](whisper_context *, whisper_state *, void * data) { return !static_cast<Job *>(data)->cancelled; };
    params.encoder_begin_callback_user_data = &job;

    const int status = whisper_full_with_state(context, state.get(), params, samples.data(), static_cast<int>(samples.size()));
    if (job.cancelled) return {{"error", "cancelled"}};
    if (status != 0) return {{"error", "whisper_full: " + std::to_string(status)}};
    const char * spoken = whisper_lang_str(whisper_full_lang_id_from_state(state.get()));
    return {{"done", {{"language", spoken}, {"translated", params.translate}}}};
}

json transcribe_or_fail(whisper_context * context, const json & question, Job & job) {
    try {
        return transcribe(context, question, job);
    } catch (const std::exception &) {
        return {{"error", "exception"}}; // its text may quote the question
    }
}

// Reads stdin in its own thread, so that a cancel arrives while a recording is being transcribed.
struct Inbox {
    std::mutex mutex;
    std::condition_variable arrived;
    std::optional<json> question;
    std::shared_ptr<Job> job; // until it is answered
};

void receive(Inbox & inbox, const json & message) {
    const std::lock_guard<std::mutex> lock(inbox.mutex);
    if (message.contains("cancel")) {
        if (inbox.job && inbox.job->id == message["cancel"]) inbox.job->cancelled = true;
        return;
    }
    const int id = message.at("id");
    if (inbox.job) return send({{"id", id}, {"error", "busy"}});
    inbox.job = std::make_shared<Job>();
    inbox.job->id = id;
    inbox.job->words = message.value("words", false);
    inbox.question = message;
    inbox.arrived.notify_one();
}

void read_questions(Inbox & inbox) {
    try {
        for (std::string line; std::getline(std::cin, line);) receive(inbox, json::parse(line));
    } catch (const std::exception &) {
        _exit(5);
    }
    _exit(0);
}

} // namespace

int main(int count, char ** arguments) {
    if (count != 2 || std::string(arguments[1]) == "--help") {
        std::puts("usage: whisper-host MODEL");
        return count == 2 ? 0 : 2;
    }
    whisper_log_set([](ggml_log_level level, const char * text, void *) {
        if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
    }, nullptr);
    ggml_backend_load_all(); // backends.cpp
    whisper_context * context = whisper_init_from_file_with_params_no_state(arguments[1], whisper_context_default_params());
    if (context == nullptr) return 3;
    Inbox inbox;
    send({{"ready", true}});
    std::thread(read_questions, std::ref(inbox)).detach();
    for (;;) {
        std::unique_lock<std::mutex> lock(inbox.mutex);
        inbox.arrived.wait(lock, [&] { return inbox.question.has_value(); });
        const json question = *std::exchange(inbox.question, std::nullopt);
        const std::shared_ptr<Job> job = inbox.job;
        lock.unlock();
        json answer = transcribe_or_fail(context, question, *job);
        answer["id"] = job->id;
        lock.lock();
        inbox.job.reset();
        lock.unlock();
        send(answer);
    }
}
