/** Whether the text has the form of a language tag: `en`, `pt-BR`, `sv_SE`. */
export const isLanguageTag = (text: string): boolean => /^[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8})*$/.test(text)
