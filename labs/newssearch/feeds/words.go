package feeds

// subjects are the terms that people search for.
var subjects = []string{
	"Topic of the day", "COVID-19", "The President", "The hot topic in Parliament", "Climate", "The Election",
	"A delicate topic", "Brexit",
}

var states = []string{"under discussion", "in every paper", "the talk of the town", "on the agenda", "back in the news"}

var days = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

var actors = []string{
	"The Mayor of Rotterdam", "A retired Postman", "Doctors from Uppsala", "The Harbour Authority", "Students",
	"The Minister of Transport", "Fishermen from Galway", "A Baker and her son", "The National Theatre", "Engineers",
	"A small Orchestra", "The Football League", "Scientists at the Observatory", "Farmers", "The Weather Service",
	"Two Librarians", "The Museum of Maps", "A group of Cyclists", "Beekeepers", "The Railway Company",
}

var verbs = []string{
	"announced", "postponed", "found", "restored", "questioned", "celebrated", "moved", "sold", "measured", "rebuilt",
	"opened", "closed", "praised", "lost", "painted", "borrowed", "protected", "renamed", "searched", "explained",
}

var objects = []string{
	"the oldest bridge in the city", "a letter from 1911", "three hundred apple trees", "the night train to Vienna",
	"a collection of sea charts", "the town clock", "an unknown symphony", "the market hall", "the river bank",
	"a lighthouse", "the winter timetable", "the school garden", "the price of bread", "a new kind of battery",
	"the last telephone box", "the ferry across the Sound", "a forgotten garden", "the opening hours", "the harvest",
}

var places = []string{
	"Lisbon", "Trondheim", "Bologna", "Ghent", "Cork", "Tartu", "Leipzig", "Malmö", "Porto", "Kraków", "Bergen",
	"Utrecht", "Graz", "Vilnius", "Aarhus", "Turku", "Bilbao", "Lyon", "Plzeň", "Split",
}

var reasons = []string{
	"although the council had warned against it", "because the weather had changed", "to the delight of the neighbours",
	"after a vote that nobody expected", "long before the first snow", "without asking for permission",
	"which cost less than planned", "and promised to do it again", "while the cameras were elsewhere",
	"as their grandparents had done", "for the first time in a century", "in spite of the rain",
}
