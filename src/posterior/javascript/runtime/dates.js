// Dates as people write them, in days since 1970, and their months, weekdays and hours.

const MICROSECONDS = 86_400e6; // of a day
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const FULL = [
  "January", "February", "March", "April", "May", "June", "July", "August", "September",
  "October", "November", "December",
];
const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

// Half to even, as NumPy rounds.
function rounded(x) {
  const low = Math.floor(x), rest = x - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
}

// Days since 1970 of the first of a month, which counts from zero (Hinnant 2013).
function firstOf(year, month) {
  const y = month < 2 ? year - 1 : year, m = (month + 10) % 12;
  const era = Math.floor(y / 400), of = y - era * 400;
  const day = Math.floor((153 * m + 2) / 5);
  return era * 146_097 + of * 365 + Math.floor(of / 4) - Math.floor(of / 100) + day - 719_468;
}

function monthOf(days) {
  const z = days + 719_468, era = Math.floor(z / 146_097), of = z - era * 146_097;
  const year = Math.floor(
    (of - Math.floor(of / 1460) + Math.floor(of / 36_524) - Math.floor(of / 146_096)) / 365);
  const day = of - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  return (Math.floor((5 * day + 2) / 153) + 2) % 12;
}

function fieldOf(name, text) {
  if (name === "month" && /^[A-Za-z]/.test(text)) {
    const title = text[0].toUpperCase() + text.slice(1).toLowerCase();
    const place = MONTHS.indexOf(title.slice(0, 3));
    const whole = title.length < 4 || FULL[place] === title || title === "Sept";
    return place >= 0 && whole ? place + 1 : NaN;
  }
  if (name === "half") return text === "p" || text === "P" ? 1 : 0;
  if (name === "zone") {
    const digits = text.replace(":", "");
    if (!"+-".includes(digits[0])) return 0;
    const minutes = 60 * Number(digits.slice(1, 3)) + Number(digits.slice(3));
    return digits[0] === "-" ? -minutes : minutes;
  }
  const value = Number(text);
  return name === "year" && text.length === 2 ? value + (value < 69 ? 2000 : 1900) : value;
}

// Microseconds since 1970 of a text, NaN if it is no moment.
function momentOf(text, pattern) {
  const match = new RegExp(`^(?:${pattern})$`).exec(text);
  if (match === null) return NaN;
  const field = (name, otherwise) => {
    if (!(name in match.groups)) return otherwise;
    return match.groups[name] ? fieldOf(name, match.groups[name]) : NaN;
  };
  const orZero = (x) => (Number.isNaN(x) ? 0 : x);
  const dated = "year" in match.groups;
  const year = field("year", 1970), month = field("month", 1), day = field("day", 1);
  const half = field("half", NaN), minute = orZero(field("minute", 0));
  const second = orZero(field("second", 0)), zone = orZero(field("zone", 0));
  if (!dated && Number.isNaN(field("hour", NaN))) return NaN;
  let hour = orZero(field("hour", 0));
  if (!Number.isNaN(half)) {
    if (hour < 1 || hour > 12) return NaN;
    hour = (hour % 12) + 12 * half;
  }
  const valid = month >= 1 && month <= 12 && day >= 1 && year >= 1;
  if (!valid || hour >= 24 || minute >= 60 || second >= 61) return NaN;
  const first = firstOf(year, month - 1);
  const next = month === 12 ? firstOf(year + 1, 0) : firstOf(year, month);
  if (day > next - first) return NaN;
  const minutes = (first + day - 1) * 1440 + hour * 60 + minute - zone;
  return minutes * 60e6 + rounded(second * 1e6);
}

// The same of a number that counts days, seconds or milliseconds, or has the digits of a date.
function counted(number, { patterns, unit, first }) {
  if (unit === undefined) return momentOf(number.toFixed(0), patterns[0]);
  const days = number * unit;
  return Math.abs(days) < 1e7 ? first + rounded(days * MICROSECONDS) : NaN;
}

// Days since 1970 of a text, or the hours of a time.
function writtenDate(text, spec) {
  let found = spec.unit === undefined ? momentOf(text, spec.patterns[0]) : NaN;
  if (spec.unit !== undefined && NUMBER.test(text.trim())) found = counted(Number(text), spec);
  if (Number.isNaN(found) && spec.patterns.length > 1) found = momentOf(text, spec.patterns.at(-1));
  if (Number.isNaN(found)) throw refused("a date", spec.column, text);
  return found / (spec.form === "time" ? MICROSECONDS / 24 : MICROSECONDS);
}

CELLS.date = (spec) => ({ row }) => {
  const value = given(row, spec.column);
  if (typeof value === "number" && Number.isFinite(value) && spec.counts) {
    return counted(value, spec) / MICROSECONDS;
  }
  return numberOf(value, spec);
};

const ofDays = (read) => ({ of }) => (at) => {
  const days = at.cell(of);
  return Number.isNaN(days) ? read.missing : read(days, Math.floor(days));
};

CELLS.month = ofDays(Object.assign((_, whole) => MONTHS[monthOf(whole)], { missing: null }));
CELLS.weekday = ofDays(
  Object.assign((_, whole) => WEEKDAYS[(((whole + 3) % 7) + 7) % 7], { missing: null }));
CELLS.hour = ofDays(Object.assign((days, whole) =>
  Math.floor(rounded((days - whole) * 86_400 * 1000) / 1000 / 3600) % 24, { missing: NaN }));
