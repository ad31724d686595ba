import type { Settings } from '../config/settings.ts'

/** Whether the settings name a mail server and a sender. */
export const sendsMails = (settings: Settings): boolean =>
  settings['service.smtp.host'] !== undefined && settings['service.smtp.from'] !== undefined
