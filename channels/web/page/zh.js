// The texts of the page in Chinese, by their English text. A table for each part of the page, one line for each text.

import api from "/page/zh-api.js";
import chat from "/page/zh-chat.js";
import reminders from "/page/zh-reminders.js";
import settings from "/page/zh-settings.js";
import side from "/page/zh-side.js";
import system from "/page/zh-system.js";
import views from "/page/zh-views.js";

export default {...api, ...chat, ...reminders, ...settings, ...side, ...system, ...views};
