export const account = {
  homeContext: 'Hemkontext',
  language: 'Språk',
  languageOfBrowser: 'Som webbläsaren säger',
  userId: 'Id',
  userName: 'Användarnamn',
  who: 'Vem jag är',
} as const
