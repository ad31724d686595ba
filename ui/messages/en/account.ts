export const account = {
  homeContext: 'Home context',
  language: 'Language',
  languageOfBrowser: 'As the browser says',
  userId: 'Id',
  userName: 'User name',
  who: 'Who I am',
} as const
