#include "CSQLiteHardening.h"
