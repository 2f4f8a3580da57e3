// The invitation page: say which time zone the browser is in. Without this the cohort's is taken.
const field = document.querySelector("[data-zone]");
if (field && !field.value) field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
