/** What the sandbox must read back from its own speech. */
export const sentences = [
  'Book a table for two, please: Grüße aus Köln!',
  'Äpfel, Öl und Übermut. Maß für Maß.',
  'call weather {"city":"Paris"}',
  '{"a": [1, 2, {"b": null}], "c": "d  e"}',
  '東京タワーはとても高いです。日本で一番有名な塔のひとつです。',
  '你好，世界',
  'Hello 🙂 world 👩‍👩‍👧‍👦',
  'Привет, мир! Ça va? Ñandú.',
  'think: two lines\nsay: **All** of `them`.',
  'a',
];
